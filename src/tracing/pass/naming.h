// The name of an access in a trace.
#pragma once

#include <string>

#include "tracing/pass/combined.h"

namespace halo::pass {

struct Name {
  // "node.pos.x", "total", "graph.offsets[]"; "node.left|right" and "node.?" if it depends on the
  // run; empty: unknown.
  std::string variable;
  const llvm::DIType* type = nullptr;
  const llvm::DICompositeType* owner = nullptr;  // the outermost class; null also if it depends on
                                                 // the run
  int64_t owner_offset = 0;
};

Name name_of(const Place& place, uint64_t size, TypeNames& names);

}  // namespace halo::pass
