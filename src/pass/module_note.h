// The constructor and destructor by which a linked module makes its sections known.
#pragma once

#include <llvm/IR/Module.h>

namespace halo::pass {

// However many translation units ask for them, the linker keeps one of each.
void add_module_note(llvm::Module& module);

}  // namespace halo::pass
