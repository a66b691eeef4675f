// Infers the targets of pointers in terms of the source, from debug information, along the
// instructions that computed the pointer.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "tracing/pass/naming.h"
#include "tracing/pass/variables.h"

namespace halo::pass {

class Places {
 public:
  Places(const llvm::Function& function, TypeNames& names);

  // The place that a pointer points to.
  Place of(const llvm::Value* pointer);
  // The place of an access: its pointer's place, corrected by its tag.
  Place accessed(const llvm::Instruction& access, const llvm::Value* pointer, uint64_t size);
  // The place that the pointer stored at `holder` points to.
  Place held(const llvm::Value* holder) { return followed(of(holder)); }

 private:
  Place infer(const llvm::Value* pointer);
  Place by_origin(const llvm::Value* pointer);
  Place by_instruction(const llvm::Instruction* instruction);
  Place by_variable(const llvm::Value* pointer);
  Place by_uses(const llvm::Value* pointer);
  Place by_use(const llvm::Value* pointer, const llvm::User* user);
  Place of_global(const llvm::GlobalVariable* global);
  Place of_temporary(const llvm::AllocaInst* local);
  Place of_element(const llvm::GEPOperator* element);
  Place of_loaded(const llvm::Instruction* load, const llvm::Value* address);
  Place of_source_type(const llvm::GEPOperator* element, const Place& otherwise);
  // The debug type of a type of Clang's; null if unknown.
  const llvm::DIType* class_of(const llvm::StructType* structure) const;
  Place of_merged(const llvm::User* merge, unsigned first);
  Place merged(const llvm::User* merge, unsigned first);
  Place of_called(const llvm::CallBase* call);
  Place of_extracted(const llvm::ExtractValueInst* part);
  Place of_integer(const llvm::Value* integer);
  // The target of the pointer stored at `holder`.
  Place followed(const Place& holder);

  Variables variables_;
  const llvm::DIType* returned_;  // by the function
  TypeNames& names_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, Place> known_;
  llvm::DenseMap<const llvm::Value*, bool> pending_;
  llvm::DenseMap<const llvm::Value*, Place> assumed_;  // of pending values
  bool used_pending_ = false;  // a pending value was used: the result is provisional
  int depth_ = 0;
  unsigned steps_ = 0;
};

}  // namespace halo::pass
