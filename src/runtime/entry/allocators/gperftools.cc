// The own functions of gperftools' tcmalloc, and those of its class MallocExtension. The ones that
// only allocate stay as they are: their blocks are tcmalloc's.
#include <cstddef>
#include <new>

#include "runtime/entry/allocators/allocators.h"
#include "runtime/entry/allocators/statistics.h"
#include "runtime/modules/loaded_module.h"
#include "runtime/serve/served_blocks.h"

namespace halo::runtime {
namespace {

// clang-format off
#define HALO_GPERFTOOLS(X) \
  X(tc_free, void, void* p) \
  X(tc_cfree, void, void* p) \
  X(tc_free_sized, void, void* p, size_t size) \
  X(tc_delete, void, void* p) \
  X(tc_delete_sized, void, void* p, size_t size) \
  X(tc_delete_nothrow, void, void* p, const std::nothrow_t& tag) \
  X(tc_delete_aligned, void, void* p, size_t alignment) \
  X(tc_delete_sized_aligned, void, void* p, size_t size, size_t alignment) \
  X(tc_delete_aligned_nothrow, void, void* p, size_t alignment, const std::nothrow_t& tag) \
  X(tc_deletearray, void, void* p) \
  X(tc_deletearray_sized, void, void* p, size_t size) \
  X(tc_deletearray_nothrow, void, void* p, const std::nothrow_t& tag) \
  X(tc_deletearray_aligned, void, void* p, size_t alignment) \
  X(tc_deletearray_sized_aligned, void, void* p, size_t size, size_t alignment) \
  X(tc_deletearray_aligned_nothrow, void, void* p, size_t alignment, \
    const std::nothrow_t& tag) \
  X(tc_realloc, void*, void* p, size_t size) \
  X(tc_malloc_size, size_t, void* p) \
  X(malloc_size, size_t, void* p) \
  X(__libc_cfree, void, void* p) \
  X(MallocExtension_GetAllocatedSize, size_t, const void* p) \
  X(MallocExtension_GetOwnership, int, const void* p) \
  X(MallocExtension_VerifyMallocMemory, int, const void* p) \
  X(MallocExtension_VerifyNewMemory, int, const void* p) \
  X(MallocExtension_VerifyArrayNewMemory, int, const void* p)
// The class's virtual functions, by their mangled names.
#define HALO_GPERFTOOLS_VIRTUAL(X) \
  X(_ZN15MallocExtension16GetAllocatedSizeEPKv, size_t, void* self, const void* p) \
  X(_ZN15MallocExtension12GetOwnershipEPKv, int, void* self, const void* p)
// clang-format on

namespace native {
HALO_GPERFTOOLS(HALO_NATIVE)
HALO_GPERFTOOLS_VIRTUAL(HALO_NATIVE)
}  // namespace native

constexpr int kOwned = 1;  // MallocExtension::kOwned

namespace ours {

HALO_GPERFTOOLS(HALO_OURS)
HALO_GPERFTOOLS_VIRTUAL(HALO_OURS)

#define HALO_FREE(name, parameters, ...)                 \
  void name parameters {                                 \
    if (!is_served(p)) return native::name(__VA_ARGS__); \
    release(p);                                          \
  }

HALO_FREE(tc_free, (void* p), p)
HALO_FREE(tc_cfree, (void* p), p)
HALO_FREE(__libc_cfree, (void* p), p)
HALO_FREE(tc_free_sized, (void* p, size_t size), p, size)
HALO_FREE(tc_delete, (void* p), p)
HALO_FREE(tc_delete_sized, (void* p, size_t size), p, size)
HALO_FREE(tc_delete_nothrow, (void* p, const std::nothrow_t& tag), p, tag)
HALO_FREE(tc_delete_aligned, (void* p, size_t alignment), p, alignment)
HALO_FREE(tc_delete_sized_aligned, (void* p, size_t size, size_t alignment), p, size, alignment)
HALO_FREE(tc_delete_aligned_nothrow, (void* p, size_t alignment, const std::nothrow_t& tag), p,
          alignment, tag)
HALO_FREE(tc_deletearray, (void* p), p)
HALO_FREE(tc_deletearray_sized, (void* p, size_t size), p, size)
HALO_FREE(tc_deletearray_nothrow, (void* p, const std::nothrow_t& tag), p, tag)
HALO_FREE(tc_deletearray_aligned, (void* p, size_t alignment), p, alignment)
HALO_FREE(tc_deletearray_sized_aligned, (void* p, size_t size, size_t alignment), p, size,
          alignment)
HALO_FREE(tc_deletearray_aligned_nothrow, (void* p, size_t alignment, const std::nothrow_t& tag), p,
          alignment, tag)
#undef HALO_FREE

void* tc_realloc(void* p, size_t size) {
  if (!is_served(p)) return native::tc_realloc(p, size);
  if (size == 0) {
    release(p);
    return nullptr;
  }
  return served_stays(p, size, 1) ? p : move_served(p, native::tc_realloc(nullptr, size), size);
}

size_t size_or(const void* p, auto native) { return is_served(p) ? usable_size(p) : native(); }

size_t tc_malloc_size(void* p) {
  return size_or(p, [=] { return native::tc_malloc_size(p); });
}
size_t malloc_size(void* p) {
  return size_or(p, [=] { return native::malloc_size(p); });
}
size_t MallocExtension_GetAllocatedSize(const void* p) {
  return size_or(p, [=] { return native::MallocExtension_GetAllocatedSize(p); });
}
size_t _ZN15MallocExtension16GetAllocatedSizeEPKv(void* self, const void* p) {
  return size_or(p, [=] { return native::_ZN15MallocExtension16GetAllocatedSizeEPKv(self, p); });
}

int MallocExtension_GetOwnership(const void* p) {
  return is_served(p) ? kOwned : native::MallocExtension_GetOwnership(p);
}
int _ZN15MallocExtension12GetOwnershipEPKv(void* self, const void* p) {
  return is_served(p) ? kOwned : native::_ZN15MallocExtension12GetOwnershipEPKv(self, p);
}

int MallocExtension_VerifyMallocMemory(const void* p) {
  return is_served(p) ? 1 : native::MallocExtension_VerifyMallocMemory(p);
}
int MallocExtension_VerifyNewMemory(const void* p) {
  return is_served(p) ? 1 : native::MallocExtension_VerifyNewMemory(p);
}
int MallocExtension_VerifyArrayNewMemory(const void* p) {
  return is_served(p) ? 1 : native::MallocExtension_VerifyArrayNewMemory(p);
}

}  // namespace ours

const InterfaceFunction kFunctions[] = {HALO_GPERFTOOLS(HALO_ROW)};
const InterfaceFunction kVirtualFunctions[] = {HALO_GPERFTOOLS_VIRTUAL(HALO_ROW)
                                                   HALO_GPERFTOOLS_STATISTICS(HALO_STATISTICS_ROW)};

uintptr_t address_of(const LoadedModule& library, const char* name) {
  const ElfW(Sym)* symbol = library.find(name);
  return symbol == nullptr ? 0 : library.bias + symbol->st_value;
}

// A table of virtual functions: two words of others precede the functions.
uintptr_t* table_named(const LoadedModule& library, const char* name) {
  const uintptr_t at = address_of(library, name);
  return at == 0 ? nullptr : reinterpret_cast<uintptr_t*>(at) + 2;
}

// The table of the implementation: that of the object which the library has registered, or which
// it will register.
uintptr_t* implementation_table(const LoadedModule& library, const uintptr_t* base) {
  using Instance = uintptr_t** (*)();
  const auto instance =
      reinterpret_cast<Instance>(address_of(library, "_ZN15MallocExtension8instanceEv"));
  uintptr_t** const object = instance == nullptr ? nullptr : instance();
  const bool is_registered = object != nullptr && *object != base &&
                             library.contains(reinterpret_cast<uintptr_t>(*object));
  return is_registered ? *object : table_named(library, "_ZTV22TCMallocImplementation");
}

// Where the class has that function in its own table: this is the same in all derived tables. Null
// if it is not there once.
uintptr_t* slot_in(uintptr_t* table, const uintptr_t* base, uintptr_t function) {
  constexpr int kMaxFunctions = 40;
  uintptr_t* found = nullptr;
  for (int at = 0; at < kMaxFunctions && base[at] != 0; ++at) {
    if (base[at] != function) continue;
    if (found != nullptr) return nullptr;
    found = table + at;
  }
  return found;
}

// A library without the class needs nothing.
bool replace_virtual_functions(const LoadedModule& library) {
  const uintptr_t* base = table_named(library, "_ZTV15MallocExtension");
  if (base == nullptr) return true;
  uintptr_t* const table = implementation_table(library, base);
  if (table == nullptr) return false;
  ModuleWriter writer(library);
  for (const InterfaceFunction& function : kVirtualFunctions) {
    uintptr_t* const slot = slot_in(table, base, address_of(library, function.name));
    if (slot == nullptr) return false;
    *function.native = reinterpret_cast<void*>(*slot);
    if (!writer.write(slot, reinterpret_cast<uintptr_t>(function.ours))) return false;
  }
  return true;
}

}  // namespace

const AllocatorInterface kGperftoolsInterface{"tc_version", kFunctions, replace_virtual_functions};

}  // namespace halo::runtime
