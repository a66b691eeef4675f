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

// Out of memory. The function reports by itself what it may still get from malloc; a result is
// then reported once more, for the context of the caller.
template <class... Arguments>
void* ask_next_operator(const char* mangled, Arguments... arguments) {
  using Function = void* (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, mangled));
  if (function == nullptr) abort();
  void* address = function(arguments...);
  report_free(address);
  return address;
}

}  // namespace

HALO_EXPORT_CXX void* operator new(size_t size) {
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_Znwm", size);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new[](size_t size) {
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_Znam", size);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new(size_t size, const std::nothrow_t& tag) noexcept {
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_ZnwmRKSt9nothrow_t", size, &tag);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new[](size_t size, const std::nothrow_t& tag) noexcept {
  void* address = take(size);
  if (address == nullptr) address = ask_next_operator("_ZnamRKSt9nothrow_t", size, &tag);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new(size_t size, std::align_val_t alignment) {
  void* address = take(size, alignment);
  if (address == nullptr) address = ask_next_operator("_ZnwmSt11align_val_t", size, alignment);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new[](size_t size, std::align_val_t alignment) {
  void* address = take(size, alignment);
  if (address == nullptr) address = ask_next_operator("_ZnamSt11align_val_t", size, alignment);
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new(size_t size, std::align_val_t alignment,
                                   const std::nothrow_t& tag) noexcept {
  void* address = take(size, alignment);
  if (address == nullptr) {
    address = ask_next_operator("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, &tag);
  }
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}
HALO_EXPORT_CXX void* operator new[](size_t size, std::align_val_t alignment,
                                     const std::nothrow_t& tag) noexcept {
  void* address = take(size, alignment);
  if (address == nullptr) {
    address = ask_next_operator("_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment, &tag);
  }
  report_alloc(address, size, HALO_RETURN_SLOT);
  return address;
}

#define HALO_DELETE(...)                                                       \
  HALO_EXPORT_CXX void operator delete(void* address __VA_ARGS__) noexcept {   \
    if (address != nullptr) give_back(address);                                \
  }                                                                            \
  HALO_EXPORT_CXX void operator delete[](void* address __VA_ARGS__) noexcept { \
    if (address != nullptr) give_back(address);                                \
  }

#define HALO_COMMA ,
HALO_DELETE()
HALO_DELETE(HALO_COMMA size_t)
HALO_DELETE(HALO_COMMA const std::nothrow_t&)
HALO_DELETE(HALO_COMMA std::align_val_t)
HALO_DELETE(HALO_COMMA size_t HALO_COMMA std::align_val_t)
HALO_DELETE(HALO_COMMA std::align_val_t HALO_COMMA const std::nothrow_t&)
