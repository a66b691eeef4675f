// Memory that becomes executable without a module being loaded: for code that the program generates
// at run time, or loads by itself.
#pragma once

namespace halo::runtime {

// Finds the next functions that map memory. Until then, the exported ones make system calls.
void find_mapping_functions();

// Whether the program has made memory executable by an exported function.
bool generates_code();

// Called before the program receives such memory; from then on, each time. In any thread.
using CodeListener = void (*)();
void set_code_listener(CodeListener listener);

}  // namespace halo::runtime
