// A place in the program's data, in terms of the source: what debug information and type-based
// alias information say together.
#pragma once

#include <string>
#include <vector>

#include "pass/members.h"
#include "pass/tags.h"
#include "pass/type_names.h"

namespace halo::pass {

struct Place {
  const llvm::DIType* type = nullptr;  // what the address lies in, outermost; null: not known
  int64_t offset = 0;                  // from the beginning of it
  std::string name;          // of the variable, or of what was followed: "graph.offsets[]"
  bool is_variable = false;  // else it was reached through a pointer
  bool anywhere = false;     // in it: the offset depends on the run
  // Where it lies instead on other ways through the program; these have no others.
  std::vector<Place> others = {};

  bool known() const { return type || !name.empty(); }
  void move(int64_t bytes);
  void add_other(const Place& other);
};

// Whether this class begins so much in front of the place.
bool agrees(const Place& place, const llvm::DICompositeType* type, int64_t offset, uint64_t size);

// How much is known: 0 nothing, 1 a name, 2 a type, 3 a class.
int rank_of(const Place& place);

// The tag decides where the two contradict each other; where they agree the place may say more,
// because it knows what the class lies in.
Place combine(const Place& place, const Tag& tag, uint64_t size, const TypeNames& names);

}  // namespace halo::pass
