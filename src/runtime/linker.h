// What the dynamic linker is doing, told without taking any of its locks.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Finds what the functions below read. Once, before there is a plan to follow modules for. Where it
// is not to be found, they say no.
void find_linker();

// The calling thread, as the C library's mutexes name their owner.
int own_thread();

// Whether this thread is inside a dlopen or dlclose: holds the lock that all of them hold.
bool is_in_linker(int thread);

// In a thread that is inside of it: modules are being mapped, so that no code of the program runs
// before they all are, and the linker's list is locked by nobody who waits for this thread.
bool is_mapping_modules();

// Whether a module that begins there is mapped for good: not one whose dlopen may yet fail, nor one
// that a dlclose has taken away.
bool is_registered(std::uintptr_t start);

// Where the dynamic linker itself is loaded.
std::uintptr_t linker_bias();

}  // namespace halo::runtime
