// The class and the offset in it of an access, from type-based alias information.
#pragma once

#include <llvm/IR/Instruction.h>

namespace halo::pass {

struct Tag {
  llvm::StringRef base;    // of the class; empty if the access is not to a member
  int64_t offset = 0;      // in that class
  llvm::StringRef access;  // "int", "any pointer"
};

Tag tag_of(const llvm::Instruction& instruction);

}  // namespace halo::pass
