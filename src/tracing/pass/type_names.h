// The names of types as in the source.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfo.h>

#include <string>
#include <unordered_map>

namespace halo::pass {

// The namespaces and classes around an entity: "", or ending with "::".
std::string scope_prefix(const llvm::DIScope* scope);

class TypeNames {
 public:
  explicit TypeNames(const llvm::DebugInfoFinder& types);

  // With namespaces and template arguments; "void" for null. A nameless class has the name of its
  // typedef, or of the place of its declaration.
  const std::string& name(const llvm::DIType* type);

  // The class with that name in type-based alias information: its tag in C, its mangled name in
  // C++.
  const llvm::DICompositeType* tagged(llvm::StringRef name) const;

 private:
  std::string make(const llvm::DIType* type);
  std::string of_derived(const llvm::DIDerivedType* type);
  std::string of_composite(const llvm::DICompositeType* type);
  std::string of_function(const llvm::DISubroutineType* type);

  // Callers hold a name while others are made, so that none may move.
  std::unordered_map<const llvm::DIType*, std::string> names_;
  llvm::DenseMap<const llvm::DIType*, llvm::StringRef> typedefs_;  // of nameless classes
  llvm::StringMap<const llvm::DICompositeType*> tagged_;
};

}  // namespace halo::pass
