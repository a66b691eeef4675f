// The source variables of a function's values, from its debug records.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace halo::pass {

struct Binding {
  const llvm::DILocalVariable* variable;
  bool is_address;   // the value is the variable's address, else its contents
  int64_t fragment;  // offset within the variable, in bytes
  int64_t added;     // the variable holds the value plus this
};

class Variables {
 public:
  explicit Variables(const llvm::Function& function);

  const std::vector<Binding>& of(const llvm::Value* value) const;

 private:
  void add(const llvm::Value* value, const llvm::DILocalVariable* variable,
           const llvm::DIExpression* expression, bool is_address);

  llvm::DenseMap<const llvm::Value*, std::vector<Binding>> bindings_;
  std::vector<Binding> none_;
};

}  // namespace halo::pass
