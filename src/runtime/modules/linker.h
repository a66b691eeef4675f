// The state of the dynamic linker, read without taking any of its locks.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Finds the variables that the functions below read. Called once, before modules are tracked. If
// they are not found, these functions return false.
void find_linker();

// The calling thread's id, as the C library's mutexes store it.
int own_thread();

// Whether this thread is inside dlopen or dlclose, that is, holds the lock that they hold.
bool is_in_linker(int thread);

// For a thread inside dlopen: whether modules are being mapped. No code of the program runs then,
// and no thread that waits for this one holds the lock of the linker's list.
bool is_mapping_modules();

// Whether a module that starts there is mapped permanently: its dlopen cannot fail any more, and no
// dlclose has removed it.
bool is_registered(uintptr_t start);

// The load address of the dynamic linker itself.
uintptr_t linker_bias();

}  // namespace halo::runtime
