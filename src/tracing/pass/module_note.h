// The constructor and destructor by which a linked module registers its sections.
#pragma once

#include <llvm/IR/Module.h>

namespace halo::pass {

// The symbol that every instrumented translation unit has.
inline constexpr const char* kModuleNote = "halo_module_note_v1";

// The linker keeps one of each, however many translation units add them.
void add_module_note(llvm::Module& module);

}  // namespace halo::pass
