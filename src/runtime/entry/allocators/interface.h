// The functions that an allocator has beside malloc's family, such as jemalloc's sdallocx. They
// know nothing of blocks that the runtime has served, so under a plan the runtime takes their place
// (docs/decisions/0024-allocator-interfaces.md).
//
// Invariants:
// - A function is replaced only in a library that defines malloc too, and that is loaded when the
//   plan begins. No program can see in other processes that the runtime has such functions: it
//   exports none of them.
// - What is replaced is the library's own definition: the address that its symbol has, which every
//   later look-up and lazy binding reads, and all slots that lead to it already. So a call leads to
//   the runtime exactly if it would have led to that library.
// - `native` is set before any call can reach `ours`. `ours` serves blocks of the runtime
//   (served_blocks.h), and passes everything else on to `native` unchanged.
// - It happens before the first grouped allocation. If a step fails, nothing is ever grouped:
//   functions that are replaced by then forward.
// - Calls inside the library itself may lead to either; the library passes its own blocks only.
//
// A new allocator is one file with an AllocatorInterface, and one line in interfaces.cc.
#pragma once

#include <span>

#include "runtime/base/exported.h"

namespace halo::runtime {

struct LoadedModule;

struct InterfaceFunction {
  const char* name;
  void* ours;     // null: only `native` is wanted
  void** native;  // the library's function, set if the library has it
};

struct AllocatorInterface {
  static constexpr size_t kMaxFunctions = 128;

  template <size_t count>
  constexpr AllocatorInterface(const char* mark_of_it, const InterfaceFunction (&list)[count],
                               bool (*finish_it)(const LoadedModule& library) = nullptr)
      : mark(mark_of_it), functions(list), finish(finish_it) {
    static_assert(count <= kMaxFunctions);
  }

  const char* mark;  // a function that tells this allocator's library from others
  // All those that take or return a block, or know how many there are. A library may lack some.
  std::span<const InterfaceFunction> functions;
  // What else is to be done in that library, once its functions are replaced. Null: nothing.
  // Returns false if it failed.
  bool (*finish)(const LoadedModule& library);
};

// Replaces the functions of all allocators' libraries that are loaded. Called once, before the
// first grouped allocation. Returns false if a function could not be replaced.
HALO_HIDDEN bool replace_interfaces();

}  // namespace halo::runtime

// For the list of an allocator's functions, X(name, result, parameters): the declarations of
// native::name, a pointer to the library's function, and of ours::name; and the table's rows, also
// for functions that only the runtime itself calls.
#define HALO_NATIVE(name, result, ...) static result (*name)(__VA_ARGS__);
#define HALO_OURS(name, result, ...) static result name(__VA_ARGS__);
#define HALO_ROW(name, ...) \
  {#name, reinterpret_cast<void*>(&ours::name), reinterpret_cast<void**>(&native::name)},
#define HALO_CALLED_ROW(name, ...) {#name, nullptr, reinterpret_cast<void**>(&native::name)},
