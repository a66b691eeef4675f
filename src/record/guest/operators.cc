// All replaceable forms of operator new and delete.
//
// The memory comes from the next malloc. When that has none, the next operator new is asked, which
// knows about new handlers and std::bad_alloc; so this library needs no C++ runtime, and works for
// programs that have none.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

#include "record/guest/wrapper.h"

using namespace halo::record::guest;

#define HALO_EXPORT_CXX __attribute__((visibility("default")))

namespace {

void* take(size_t size) {
  const NextAllocator* next = next_allocator();
  return next != nullptr ? next->malloc(size ? size : 1) : bootstrap_allocate(size);
}

void* take(size_t size, std::align_val_t alignment) {
  return take_aligned(size_t(alignment), size ? size : 1);
}

// Calls the C++ library's form of that mangled name.
template <class... Arguments>
void* ask_operator(const char* mangled, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  auto function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, mangled));
  if (function == nullptr) {  // it may have come by dlopen
    if (void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)) {
      function = reinterpret_cast<Function>(dlsym(library, mangled));
    }
  }
  if (function == nullptr) abort();
  return function(arguments...);
}

// Out of memory. The function reports by itself what it may still get from malloc; a result is
// then reported once more, for the context of the caller.
template <class... Arguments>
void* ask_next_operator(const char* mangled, Arguments... arguments) {
  void* address = ask_operator(mangled, arguments...);
  report_free(address);
  return address;
}

// Names for ours that nobody can replace.
extern "C" {
void* halo_guest_new(size_t)
    __attribute__((alias("_Znwm"), visibility("hidden"), malloc, alloc_size(1)));
void* halo_guest_new_aligned(size_t, std::align_val_t)
    __attribute__((alias("_ZnwmSt11align_val_t"), visibility("hidden"), malloc, alloc_size(1)));
}

bool new_is_ours() { return static_cast<void* (*)(size_t)>(&::operator new) == &halo_guest_new; }

bool aligned_new_is_ours() {
  return static_cast<void* (*)(size_t, std::align_val_t)>(&::operator new) ==
         &halo_guest_new_aligned;
}

void release(void* address) {
  if (address != nullptr) give_back(address);
}

}  // namespace

HALO_EXPORT_CXX void* operator new(size_t size) {
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_Znwm", size);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

// Forms that rest on another one enter it by a jump through the PLT: its caller is then the
// program, and where the program has replaced it, that is what is called.
HALO_EXPORT_CXX void* operator new[](size_t size) { return ::operator new(size); }

HALO_EXPORT_CXX void* operator new(size_t size, const std::nothrow_t& tag) noexcept {
  // The C++ library's own form calls a replaced operator new, which reports what it allocates.
  if (!new_is_ours()) return ask_operator("_ZnwmRKSt9nothrow_t", size, &tag);
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_ZnwmRKSt9nothrow_t", size, &tag);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT_CXX void* operator new[](size_t size, const std::nothrow_t& tag) noexcept {
  return ::operator new(size, tag);
}

HALO_EXPORT_CXX void* operator new(size_t size, std::align_val_t alignment) {
  void* address = take(size, alignment);
  if (address == nullptr) address = ask_next_operator("_ZnwmSt11align_val_t", size, alignment);
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT_CXX void* operator new[](size_t size, std::align_val_t alignment) {
  return ::operator new(size, alignment);
}

HALO_EXPORT_CXX void* operator new(size_t size, std::align_val_t alignment,
                                   const std::nothrow_t& tag) noexcept {
  constexpr const char* name = "_ZnwmSt11align_val_tRKSt9nothrow_t";
  if (!aligned_new_is_ours()) return ask_operator(name, size, alignment, &tag);
  void* address = take(size, alignment);
  if (address == nullptr) address = ask_next_operator(name, size, alignment, &tag);
  report_aligned(address, size, HALO_RETURN_SLOT);
  return address;
}

HALO_EXPORT_CXX void* operator new[](size_t size, std::align_val_t alignment,
                                     const std::nothrow_t& tag) noexcept {
  return ::operator new(size, alignment, tag);
}

HALO_EXPORT_CXX void operator delete(void* p) noexcept { release(p); }
HALO_EXPORT_CXX void operator delete[](void* p) noexcept { ::operator delete(p); }
HALO_EXPORT_CXX void operator delete(void* p, size_t) noexcept { ::operator delete(p); }
HALO_EXPORT_CXX void operator delete[](void* p, size_t) noexcept { ::operator delete[](p); }
HALO_EXPORT_CXX void operator delete(void* p, const std::nothrow_t&) noexcept {
  ::operator delete(p);
}
HALO_EXPORT_CXX void operator delete[](void* p, const std::nothrow_t&) noexcept {
  ::operator delete[](p);
}

HALO_EXPORT_CXX void operator delete(void* p, std::align_val_t) noexcept { release(p); }
HALO_EXPORT_CXX void operator delete[](void* p, std::align_val_t alignment) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT_CXX void operator delete(void* p, size_t, std::align_val_t alignment) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT_CXX void operator delete[](void* p, size_t, std::align_val_t alignment) noexcept {
  ::operator delete[](p, alignment);
}
HALO_EXPORT_CXX void operator delete(void* p, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  ::operator delete(p, alignment);
}
HALO_EXPORT_CXX void operator delete[](void* p, std::align_val_t alignment,
                                       const std::nothrow_t&) noexcept {
  ::operator delete[](p, alignment);
}
