// The set of constants that a value may have, if it is small.
#pragma once

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Value.h>

#include <vector>

namespace halo::pass {

// All possible values of an integer, in any order; empty if they are unknown or too many.
std::vector<llvm::APInt> choices_of(const llvm::Value* value);

}  // namespace halo::pass
