// What type-based alias information says of an access: the class, and the offset in it.
#pragma once

#include <llvm/IR/Instruction.h>

namespace halo::pass {

struct Tag {
  llvm::StringRef base;    // of the class; empty where it is no member of one
  int64_t offset = 0;      // in that class
  llvm::StringRef access;  // "int", "any pointer"
};

Tag tag_of(const llvm::Instruction& instruction);

}  // namespace halo::pass
