// Calls of Tidy's two functions for rules (src/tidy/include/halo/tidy_rules.h).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <tuple>

#include "tracing/pass/hint_rules.h"

namespace halo::pass {

// Objects of a rule that have one size and come from one allocator. Two types of one name may have
// different sizes.
struct AllocatedBy {
  const TypeRule* rule;
  uint64_t bytes;
  llvm::Function* allocator;  // malloc or operator new
};

class RuleCalls {
 public:
  // `hints` identifies the rules among all files of hints.
  RuleCalls(llvm::Module& module, uint64_t hints)
      : module_(module), context_(module.getContext()), hints_(hints) {}

  llvm::CallInst* reserve(llvm::IRBuilder<>& builder, const AllocatedBy& by);
  // `values` is an array of 64-bit values, one for each key of the rule.
  llvm::CallInst* place(llvm::IRBuilder<>& builder, const AllocatedBy& by, llvm::Value* reserved,
                        llvm::Value* values);

 private:
  llvm::Constant* constant(const AllocatedBy& by);
  llvm::Constant* functions(llvm::Function& allocator);
  llvm::Constant* keys(const TypeRule& rule);
  llvm::Constant* context_variable(const TypeRule& rule);
  llvm::Constant* variable(llvm::Constant* content, const char* name, bool is_constant);

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const uint64_t hints_;
  llvm::DenseMap<std::tuple<const TypeRule*, uint64_t, llvm::Function*>, llvm::Constant*> made_;
  llvm::DenseMap<llvm::Function*, llvm::Constant*> functions_;
};

}  // namespace halo::pass
