// The few constants that a value is one of.
#pragma once

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Value.h>

#include <vector>

namespace halo::pass {

// All that an integer may be, in any order; empty where they are not known, or too many.
std::vector<llvm::APInt> choices_of(const llvm::Value* value);

}  // namespace halo::pass
