// What an access is called in a trace.
#pragma once

#include <string>

#include "pass/combined.h"

namespace halo::pass {

struct Name {
  std::string variable;  // "node.pos.x", "total", "graph.offsets[]"; empty: not known
  const llvm::DIType* type = nullptr;
  const llvm::DICompositeType* owner = nullptr;  // the outermost class
  int64_t owner_offset = 0;
};

Name name_of(const Place& place, uint64_t size, TypeNames& names);

}  // namespace halo::pass
