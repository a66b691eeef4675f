// Values as the 64 bits that an event has room for.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace halo::pass {

// Zero-extended; of what is wider the low 8 bytes, 0 where these are not cheap to get at.
llvm::Value* to_word(llvm::IRBuilderBase& builder, llvm::Value* value);

}  // namespace halo::pass
