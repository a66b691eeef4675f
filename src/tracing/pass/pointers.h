// Properties of pointers from single instructions and declarations.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstrTypes.h>

namespace halo::pass {

// Whether the index is the offset of a virtual base class, loaded from the virtual table.
bool is_base_offset(const llvm::Value* index);
// Whether a call returns its first argument.
bool passes_through(const llvm::CallBase& call);
// The type of a function's parameter; position 0 is the result. Null if unknown.
const llvm::DIType* type_in(const llvm::DISubprogram* program, unsigned position);
const llvm::DIType* parameter_type(const llvm::CallBase& call, unsigned position);
bool is_reference(const llvm::DIType* type);

}  // namespace halo::pass
