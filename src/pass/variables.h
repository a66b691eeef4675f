// Which source variables the values of a function are, by its debug records.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace halo::pass {

struct Binding {
  const llvm::DILocalVariable* variable;
  bool is_address;   // the value is where the variable lies; else the variable holds it
  int64_t fragment;  // of the variable, from its beginning in bytes
  int64_t added;     // what the variable holds is the value plus so much
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
