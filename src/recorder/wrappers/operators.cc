// All replaceable forms of operator new and delete.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

#include "base/old_c_library.h"
#include "recorder/wrappers/wrapper.h"

using namespace halo;
using namespace halo::interpose;

#define HALO_OPERATOR __attribute__((visibility("default")))
#include "base/operators.inc"

// They take memory from the next malloc. If that fails, they call the next operator new, which
// handles new handlers and std::bad_alloc. So this library needs no C++ runtime, and works for
// programs without one.
namespace {

void* take(size_t size) {
  const NextFunctions* next = next_allocator();
  return next != nullptr ? next->malloc(size ? size : 1) : bootstrap_allocate(size);
}

void* take(size_t size, std::align_val_t alignment) {
  return take_aligned(size_t(alignment), size ? size : 1);
}

// Calls the C++ library's form with that mangled name.
template <class... Arguments>
void* call_operator(const char* mangled, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  auto function = reinterpret_cast<Function>(halo::find_symbol(RTLD_NEXT, mangled));
  if (function == nullptr) {  // the library may have been loaded by dlopen
    if (void* library = halo::open_library("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)) {
      function = reinterpret_cast<Function>(halo::find_symbol(library, mangled));
    }
  }
  if (function == nullptr) abort();
  return function(arguments...);
}

// Memory was refused. The C++ library's form reports the allocations that it makes through malloc.
// A result is reported once more, for the context of the caller.
template <class... Arguments>
void* call_next_new(const char* mangled, Arguments... arguments) {
  void* address = call_operator(mangled, arguments...);
  report_free(address);
  return address;
}

void release(void* address) {
  if (address != nullptr) free_next(address);
}

}  // namespace

HALO_OPERATOR void* operator new(size_t size) {
  void* address = take(size);
  if (address == nullptr) address = call_next_new("_Znwm", size);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_OPERATOR void* operator new(size_t size, const std::nothrow_t& tag) noexcept {
  // The C++ library's own form calls a replaced operator new, which reports its allocation.
  if (!new_is_ours()) return call_operator("_ZnwmRKSt9nothrow_t", size, &tag);
  void* address = take(size);
  if (address == nullptr) address = call_next_new("_ZnwmRKSt9nothrow_t", size, &tag);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_OPERATOR void* operator new(size_t size, std::align_val_t alignment) {
  void* address = take(size, alignment);
  if (address == nullptr) address = call_next_new("_ZnwmSt11align_val_t", size, alignment);
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_OPERATOR void* operator new(size_t size, std::align_val_t alignment,
                                 const std::nothrow_t& tag) noexcept {
  constexpr const char* kName = "_ZnwmSt11align_val_tRKSt9nothrow_t";
  if (!aligned_new_is_ours()) return call_operator(kName, size, alignment, &tag);
  void* address = take(size, alignment);
  if (address == nullptr) address = call_next_new(kName, size, alignment, &tag);
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_OPERATOR void operator delete(void* p) noexcept { release(p); }
HALO_OPERATOR void operator delete(void* p, std::align_val_t) noexcept { release(p); }
