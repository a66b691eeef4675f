// A place in the program's data in terms of the source, from debug information and type-based alias
// information.
#pragma once

#include <string>
#include <vector>

#include "tracing/pass/members.h"
#include "tracing/pass/tags.h"
#include "tracing/pass/type_names.h"

namespace halo::pass {

struct Place {
  const llvm::DIType* type = nullptr;  // the outermost type that contains the address; null:
                                       // unknown
  int64_t offset = 0;                  // from its start
  std::string name;          // of the variable or of the followed pointer: "graph.offsets[]"
  bool is_variable = false;  // else it was reached through a pointer
  bool anywhere = false;     // within it: the offset depends on the run
  // The places on other paths through the program; these have no others.
  std::vector<Place> others = {};

  bool known() const { return type || !name.empty(); }
  void move(int64_t bytes);
  void add_other(const Place& other);
};

// Whether this class starts at the tag's distance before the place.
bool agrees(const Place& place, const llvm::DICompositeType* type, int64_t offset, uint64_t size);

// The amount of information: 0 none, 1 a name, 2 a type, 3 a class.
int rank_of(const Place& place);

// If the two contradict each other, the tag decides. If they agree, the place may contain more,
// such as the class that contains the tag's class.
Place combine(const Place& place, const Tag& tag, uint64_t size, const TypeNames& names);

}  // namespace halo::pass
