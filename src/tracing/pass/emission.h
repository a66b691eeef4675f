// Inserts the calls of the logging library into a function.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "tracing/pass/planning.h"

namespace halo::pass {

class Emitter {
 public:
  // `sites` is the placeholder of the section of sites.
  Emitter(llvm::Module& module, llvm::GlobalVariable& sites);

  void emit(llvm::Function& function, const FunctionPlan& plan);

 private:
  void access(const PlannedAccess& planned);
  void masked(const PlannedAccess& planned);
  void log_if(const PlannedAccess& planned, llvm::Value* condition, llvm::Value* pointer,
              llvm::Value* value);
  void allocation(const PlannedAllocation& planned);
  void enter(llvm::Function& function, uint32_t site);
  void exit(const PlannedExit& planned);
  llvm::Value* slot(llvm::IRBuilderBase& builder);
  llvm::Value* site(uint32_t offset);
  void log(llvm::IRBuilderBase& builder, llvm::Value* site, llvm::Value* word1, llvm::Value* word2);

  llvm::Module& module_;
  llvm::GlobalVariable& sites_;
  llvm::FunctionCallee hook_;
};

}  // namespace halo::pass
