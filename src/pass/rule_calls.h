// Calls of Tidy's two functions for rules (src/tidy/include/halo/tidy_rules.h).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "pass/hint_rules.h"

namespace halo::pass {

class RuleCalls {
 public:
  explicit RuleCalls(llvm::Module& module) : module_(module), context_(module.getContext()) {}

  llvm::CallInst* reserve(llvm::IRBuilder<>& builder, const TypeRule& rule, llvm::Value* size,
                          llvm::Value* allocator);
  // `values` is an array of 64-bit values, one for each key of the rule.
  llvm::CallInst* place(llvm::IRBuilder<>& builder, const TypeRule& rule, llvm::Value* size,
                        llvm::Value* reserved, llvm::Value* values);

 private:
  llvm::Constant* constant(const TypeRule& rule);
  llvm::Constant* keys(const TypeRule& rule);
  llvm::Constant* context_variable(const TypeRule& rule);
  llvm::FunctionCallee function(const char* name, llvm::FunctionType* type);

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::DenseMap<const TypeRule*, llvm::Constant*> made_;
};

}  // namespace halo::pass
