// Values as the 64-bit words of an event.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace halo::pass {

// Zero-extended; of wider values the low 8 bytes, or 0 if these are expensive to extract.
llvm::Value* to_word(llvm::IRBuilderBase& builder, llvm::Value* value);

}  // namespace halo::pass
