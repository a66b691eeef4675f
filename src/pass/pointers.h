// What single instructions and declarations say of pointers.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstrTypes.h>

namespace halo::pass {

// Where a virtual base begins in its object: at an offset that stands in the virtual table.
bool is_base_offset(const llvm::Value* index);
// Whether a call returns its first argument.
bool passes_through(const llvm::CallBase& call);
// Of a function's parameter; position 0 is the result. Null where it is not known.
const llvm::DIType* type_in(const llvm::DISubprogram* program, unsigned position);
const llvm::DIType* parameter_type(const llvm::CallBase& call, unsigned position);
bool is_reference(const llvm::DIType* type);

}  // namespace halo::pass
