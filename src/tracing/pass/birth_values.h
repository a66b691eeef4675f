// The values that a program stores into a new object, computed before the object has its place.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <memory>
#include <optional>

namespace halo::pass {

// Follows the code behind an allocation for as long as there is only one way to go, if memory is
// not refused. Copies of that code compute the values; they run in front of that code, after the
// allocation can no longer fail. This is the same as the program's own code, because
//  - all of the followed code runs in any case, and no instruction of it is a call;
//  - nothing but the object was written in between: a load behind a store to other memory is not
//    copied, and a variable of the function is other memory if its address has escaped before.
class BirthValues {
 public:
  // `allocation` returns the new object. `dominators` are of its function, and stay valid.
  BirthValues(llvm::CallBase& allocation, const llvm::DominatorTree& dominators);

  // Appends to the code the last value that is stored at that offset of the object, zero-extended
  // to 64 bits. Null if there is none, or if it cannot be computed. Constants do not count: they
  // clear a field.
  llvm::Value* value_at(uint64_t offset, unsigned bytes);

  // The code of all values so far: a block without an end, in no function.
  std::unique_ptr<llvm::BasicBlock> take_code() { return std::move(code_); }

 private:
  // A store to the object, to bytes from `begin` on; without a value if it is not known.
  struct Store {
    uint64_t begin;
    uint64_t end;
    llvm::Value* value;
  };

  void follow();
  bool visit(llvm::Instruction& at);
  void visit_store(const llvm::StoreInst& store);
  void visit_memory(const llvm::MemIntrinsic& memory);
  void visit_load(const llvm::LoadInst& load);
  void change();
  bool is_changed(const llvm::Value* pointer) const;
  bool is_own_variable(const llvm::StoreInst& store) const;
  const llvm::BasicBlock* next_of(const llvm::Instruction& end) const;
  llvm::Value* resolved(llvm::Value* value) const;
  // The offset in the object to which a pointer points, if it does.
  std::optional<int64_t> offset_of(const llvm::Value* pointer, unsigned depth = 0) const;
  std::optional<int64_t> constant_of(llvm::Value* index) const;
  uint64_t size_of(const llvm::Type* type) const;
  llvm::Value* part_of(const Store& store, uint64_t offset, unsigned bytes);
  llvm::Value* rebuild(llvm::Value* value, unsigned depth);
  bool is_before(const llvm::Instruction& at) const;

  llvm::CallBase& allocation_;
  const llvm::DominatorTree& dominators_;
  std::unique_ptr<llvm::BasicBlock> code_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<Store> stores_;  // in the order of the code
  // Of a merge: what comes this way; of a load of a variable: what the code stored there.
  llvm::DenseMap<const llvm::Value*, llvm::Value*> chosen_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> variables_;  // by the function's own variable
  llvm::SmallPtrSet<const llvm::Instruction*, 32> copied_;      // of which copies may be made
  llvm::DenseMap<const llvm::Value*, llvm::Value*> rebuilt_;    // the copies
  bool changed_ = false;  // the code stored to memory that is neither its own nor the object's
};

}  // namespace halo::pass
