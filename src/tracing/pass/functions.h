// The instrumented functions: selection, names and exits.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <string>
#include <vector>

namespace halo::pass {

bool is_instrumented(const llvm::Function& function);

// The demangled name with namespaces and classes, without parameters.
std::string readable(llvm::StringRef linkage_name);
std::string readable(const llvm::DISubprogram* program);

// Whether the code generator may turn a call before this return into a jump, so that no code may be
// inserted between the two.
bool may_become_jump(const llvm::CallBase& call);

// Duplicates returns so that each call that may become a jump has its own, as the code generator
// would do.
void part_returns(llvm::Function& function);

// The exits of a function: each instruction is the one before which the exit is logged.
std::vector<llvm::Instruction*> exits_of(llvm::Function& function);

}  // namespace halo::pass
