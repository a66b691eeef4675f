// Allocations whose caller may be in the plan: identify, then serve from the group or forward.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// For blocks that the arena contains.
void free_grouped(void* p);
std::size_t usable_size_grouped(const void* p);

// The C++ library's function of that mangled name, or nullptr. It may have come by dlopen.
void* find_operator(const char* name);

// Memory was refused, or an operator was replaced: the C++ library's own form knows about new
// handlers, exceptions and replaced operators. nullptr where there is no such library.
template <typename... Arguments>
[[gnu::cold]] void* refused_new(const char* name, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(find_operator(name));
  return function == nullptr ? nullptr : function(arguments...);
}

}  // namespace halo::runtime

// Trampolines (entry.cc): entered by a jump from the exported function of the same name, they pass
// on the slot of the program's return address and the caller's rbp.
extern "C" {
void* halo_enter_malloc(std::size_t size);
void* halo_enter_new(std::size_t size);
void* halo_enter_new_nothrow(std::size_t size, const void* tag);
void* halo_enter_calloc(std::size_t count, std::size_t size);
void* halo_enter_realloc(void* p, std::size_t size);
}
