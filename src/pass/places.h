// Where pointers point to, in terms of the source: infers it from debug information, along the
// instructions that the pointer was made by.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "pass/naming.h"
#include "pass/variables.h"

namespace halo::pass {

class Places {
 public:
  Places(const llvm::Function& function, TypeNames& names);

  // What lies at a pointer.
  Place of(const llvm::Value* pointer);
  // What an access goes to: its pointer's place, corrected by its tag.
  Place accessed(const llvm::Instruction& access, const llvm::Value* pointer, uint64_t size);
  // Where the pointer points to that is held there.
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
  // What debug information says of a type of Clang's; null where it does not.
  const llvm::DIType* class_of(const llvm::StructType* structure) const;
  Place of_merged(const llvm::User* merge, unsigned first);
  Place merged(const llvm::User* merge, unsigned first);
  Place of_called(const llvm::CallBase* call);
  Place of_extracted(const llvm::ExtractValueInst* part);
  Place of_integer(const llvm::Value* integer);
  // Where what is held there points to.
  Place followed(const Place& holder);

  Variables variables_;
  const llvm::DIType* returned_;  // by the function
  TypeNames& names_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, Place> known_;
  llvm::DenseMap<const llvm::Value*, bool> under_way_;
  llvm::DenseMap<const llvm::Value*, Place> assumed_;  // of one that is under way
  bool went_round_ = false;  // something was asked for that is under way: the answer is provisional
  int depth_ = 0;
  unsigned steps_ = 0;
};

}  // namespace halo::pass
