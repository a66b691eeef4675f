// Functions: which are instrumented, what they are called, and where they end.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <string>
#include <vector>

namespace halo::pass {

bool is_instrumented(const llvm::Function& function);

// With namespaces and classes, without parameters.
std::string readable(llvm::StringRef linkage_name);
std::string readable(const llvm::DISubprogram* program);

// Whether the code generator may make a jump of a call before this return, so that nothing may come
// between the two.
bool may_become_jump(const llvm::CallBase& call);

// Gives each call that is to become a jump a return of its own, as the code generator would do.
void part_returns(llvm::Function& function);

// Where a function is left: each instruction is the one before which that is to be said.
std::vector<llvm::Instruction*> exits_of(llvm::Function& function);

}  // namespace halo::pass
