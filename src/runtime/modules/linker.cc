// Finds the dynamic linker's lock among its variables, and reads its owner
// (docs/decisions/0009-modules.md).
#include "runtime/modules/linker.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>

#include "base/old_c_library.h"

namespace halo::runtime {
namespace {

constinit const pthread_mutex_t* load_lock = nullptr;
constinit const r_debug* debug = nullptr;
using FindObject = int (*)(void*, dl_find_object*);
constinit FindObject find_object = nullptr;

// The linker's variables, and which of the mutexes among them this thread held before.
struct Variables {
  const char* begin;
  size_t bytes;
  const pthread_mutex_t* held;
};

bool is_held(const pthread_mutex_t& mutex, int thread) {
  return mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP && mutex.__data.__count != 0 &&
         __atomic_load_n(&mutex.__data.__owner, __ATOMIC_RELAXED) == thread;
}

// The first mutex behind `after` that this thread holds, or nullptr.
const pthread_mutex_t* next_held(const Variables& variables, const pthread_mutex_t* after) {
  const int thread = own_thread();
  size_t at = 0;
  if (after != nullptr)
    at = static_cast<size_t>(reinterpret_cast<const char*>(after + 1) - variables.begin);
  for (; at + sizeof(pthread_mutex_t) <= variables.bytes; at += alignof(pthread_mutex_t)) {
    const auto* mutex = reinterpret_cast<const pthread_mutex_t*>(variables.begin + at);
    if (is_held(*mutex, thread)) return mutex;
  }
  return nullptr;
}

// Called inside dl_iterate_phdr: a mutex that is held now and was not before guards the list of
// modules.
int inspect_locks(dl_phdr_info*, size_t, void* data) {
  auto& variables = *static_cast<Variables*>(data);
  variables.held = next_held(variables, variables.held);
  return 1;
}

// The lock of dlopen lies directly before the lock of the list.
const pthread_mutex_t* find_load_lock() {
  void* global = find_symbol(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  if (global == nullptr ||
      !find_module(global, info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) ||
      symbol == nullptr || info.dli_saddr != global)
    return nullptr;
  Variables variables{static_cast<const char*>(global), symbol->st_size, nullptr};
  variables.held = next_held(variables, nullptr);  // if the runtime itself is loaded by dlopen
  const auto* before = variables.held;
  dl_iterate_phdr(inspect_locks, &variables);
  const pthread_mutex_t* list_lock = variables.held;
  if (list_lock == nullptr || list_lock == before) return nullptr;
  const pthread_mutex_t* lock = list_lock - 1;
  const bool lies_inside = reinterpret_cast<const char*>(lock) >= variables.begin;
  return lies_inside && lock->__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP ? lock : nullptr;
}

// The executable's own pointer to r_debug is used: a copy of the variable in the executable is
// stale.
int find_debug(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_DEBUG) debug = reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
  }
  return 1;
}

}  // namespace

void find_linker() {
  find_object = reinterpret_cast<FindObject>(find_symbol(RTLD_DEFAULT, "_dl_find_object"));
  dl_iterate_phdr(find_debug, nullptr);
  load_lock = find_load_lock();
}

int own_thread() {
  pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&mutex);
  const int thread = mutex.__data.__owner;
  pthread_mutex_unlock(&mutex);
  return thread;
}

bool is_in_linker(int thread) { return load_lock != nullptr && is_held(*load_lock, thread); }

bool is_mapping_modules() { return debug != nullptr && debug->r_state == r_debug::RT_ADD; }

bool is_registered(uintptr_t start) {
  dl_find_object found;
  return find_object != nullptr && find_object(reinterpret_cast<void*>(start), &found) == 0 &&
         reinterpret_cast<uintptr_t>(found.dlfo_map_start) == start;
}

uintptr_t linker_bias() { return debug == nullptr ? 0 : debug->r_ldbase; }

}  // namespace halo::runtime
