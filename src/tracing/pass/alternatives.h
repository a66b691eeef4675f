// The places that an address may have, depending on the path through the program.
#pragma once

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Value.h>

#include <vector>

#include "tracing/pass/combined.h"

namespace halo::pass {

struct Alternative {
  Place place;
  bool certain;  // else found in a loop, without the value from around it
};

Place merge_of(const std::vector<Alternative>& alternatives);

// Indices, and the bytes of a step of each.
using Steps = llvm::MapVector<llvm::Value*, llvm::APInt>;

// A place moved by indices: by a few known values each, within an array, or anywhere.
Place indexed(const Place& place, const Steps& steps);

}  // namespace halo::pass
