// Places that an address may be at, by the way through the program that led to it.
#pragma once

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Value.h>

#include <vector>

#include "pass/combined.h"

namespace halo::pass {

struct Alternative {
  Place place;
  bool certain;  // else found in a loop, without what comes around it
};

Place merge_of(const std::vector<Alternative>& alternatives);

// Indices and the bytes that each of them counts.
using Steps = llvm::MapVector<llvm::Value*, llvm::APInt>;

// A place moved by indices: each of a few that are known, within an array, or anywhere.
Place indexed(const Place& place, const Steps& steps);

}  // namespace halo::pass
