// What an instruction does to memory, as events to log.
#pragma once

#include <llvm/IR/Instruction.h>

#include <optional>
#include <vector>

#include "trace/site.h"

namespace halo::pass {

struct Access {
  llvm::Instruction* instruction;
  trace::SiteKind kind;
  llvm::Value* pointer;  // of a gather or scatter a vector of them: an event for each
  llvm::Value* value;    // read or written; null where it is the instruction's own result
  llvm::Value* length;   // of ranges, in bytes; else null
  llvm::Value* mask;     // nothing happens where all of its bits are off; null: it always happens
  uint64_t size;         // bytes; 0 where it varies
  uint8_t alignment_log2;
};

// One or, for a copy, two; none where it does not touch memory, or memory that is not the
// program's.
std::vector<Access> accesses_of(llvm::Instruction& instruction);

}  // namespace halo::pass
