// The values that a program stores into a new object, computed before it is allocated.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace halo::pass {

// Follows the code behind an allocation for as long as there is only one way to go, if memory is
// not refused. So all of that code runs, and what it computes may be computed before the
// allocation: a load reads memory that the program reads, too, with nothing in between that could
// free it.
class BirthValues {
 public:
  // `allocation` returns the new object. `dominators` are of its function.
  BirthValues(llvm::CallBase& allocation, const llvm::DominatorTree& dominators);

  // The last value that the code stores at that offset of the object, zero-extended to 64 bits;
  // null if there is none, or if it is not known before the allocation. Constants do not
  // count: they clear a field. Adds instructions before the allocation.
  llvm::Value* before_allocation(uint64_t offset, unsigned bytes);

 private:
  // A store to the object, from its `begin` on.
  struct Store {
    uint64_t begin;
    llvm::Value* value;
  };

  void follow();
  void visit(llvm::Instruction& at);
  void visit_store(const llvm::StoreInst& store);
  void change();
  const llvm::BasicBlock* next_of(const llvm::Instruction& end) const;
  llvm::Value* resolved(llvm::Value* value) const;
  // The offset in the object to which a pointer points, if it does.
  std::optional<int64_t> offset_of(const llvm::Value* pointer) const;
  std::optional<int64_t> constant_of(llvm::Value* index) const;
  llvm::Value* rebuild(llvm::Value* value, unsigned depth);
  bool is_before(const llvm::Instruction& at) const;
  bool may_rebuild(const llvm::Instruction& at) const;
  llvm::Value* part_of(const Store& store, uint64_t offset, unsigned bytes);

  llvm::CallBase& allocation_;
  const llvm::DominatorTree& dominators_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<Store> stores_;  // in the order of the code
  // Of a merge: what comes this way; of a load from a variable: what the code put into it.
  llvm::DenseMap<const llvm::Value*, llvm::Value*> chosen_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> variables_;  // in memory of the function
  llvm::DenseMap<const llvm::Instruction*, bool> on_path_;      // with `changed_` at that place
  llvm::DenseMap<const llvm::Value*, llvm::Value*> rebuilt_;    // before the allocation
  bool changed_ = false;  // the code stored to memory that is neither a variable nor the object
};

}  // namespace halo::pass
