// The constructor and destructor by which a linked module makes its sections known.
#pragma once

#include <llvm/IR/Module.h>

namespace halo::pass {

// The symbol that every instrumented translation unit has.
inline constexpr const char* kModuleNote = "halo_module_note_v1";

// However many translation units ask for them, the linker keeps one of each.
void add_module_note(llvm::Module& module);

}  // namespace halo::pass
