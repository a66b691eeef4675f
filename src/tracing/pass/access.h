// The memory accesses of an instruction, as events to log.
#pragma once

#include <llvm/IR/Instruction.h>

#include <optional>
#include <vector>

#include "tracing/format/site.h"

namespace halo::pass {

struct Access {
  llvm::Instruction* instruction;
  trace::SiteKind kind;
  llvm::Value* pointer;  // of a gather or scatter a vector of them: one event each
  llvm::Value* value;    // read or written; null: the instruction's own result
  llvm::Value* length;   // of ranges, in bytes; else null
  llvm::Value* mask;     // no access if all of its bits are 0; null: unconditional
  uint64_t size;         // bytes; 0: varies
  uint8_t alignment_log2;
};

// One access, or two for a copy; none if the instruction does not access the program's memory.
std::vector<Access> accesses_of(llvm::Instruction& instruction);

}  // namespace halo::pass
