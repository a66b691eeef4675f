// An audit library: it has its own C library, allocates at every event, and passes every lazily
// bound call of malloc and free through the loader's audit frame.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kept = 64 };
static char* blocks[kept];
static unsigned long count;

// Blocks live from one event to the next ones; their contents must not change.
static void allocate(void) {
  char** at = &blocks[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % kept];
  char* fresh = malloc(32);
  memset(fresh, 'a', 32);
  char* old = __atomic_exchange_n(at, fresh, __ATOMIC_ACQ_REL);
  for (int i = 0; old != NULL && i < 32; ++i)
    if (old[i] != 'a') abort();
  free(old);
}

unsigned int la_version(unsigned int version) {
  allocate();
  return version;
}

unsigned int la_objopen(struct link_map* map, Lmid_t namespace, uintptr_t* cookie) {
  (void)map, (void)namespace, (void)cookie;
  allocate();
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

unsigned int la_objclose(uintptr_t* cookie) {
  (void)cookie;
  allocate();
  return 0;
}

uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned int index, uintptr_t* from, uintptr_t* to,
                       unsigned int* flags, const char* name) {
  (void)index, (void)from, (void)to, (void)name;
  allocate();
  *flags = 0;
  return symbol->st_value;
}

#ifdef SEES_CALLS
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym* symbol, unsigned int index, uintptr_t* from,
                                  uintptr_t* to, La_x86_64_regs* registers, unsigned int* flags,
                                  const char* name, long int* frame_bytes) {
  (void)index, (void)from, (void)to, (void)registers, (void)flags;
  if (strcmp(name, "malloc") == 0 || strcmp(name, "free") == 0) *frame_bytes = 64;
  allocate();
  return symbol->st_value;
}

unsigned int la_x86_64_gnu_pltexit(Elf64_Sym* symbol, unsigned int index, uintptr_t* from,
                                   uintptr_t* to, const La_x86_64_regs* in, La_x86_64_retval* out,
                                   const char* name) {
  (void)symbol, (void)index, (void)from, (void)to, (void)in, (void)out, (void)name;
  allocate();
  return 0;
}
#endif
