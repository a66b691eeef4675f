// The address range of the runtime's code in this process.
#pragma once

#include <link.h>
#include <stdint.h>
#include <string.h>

struct code_range {
  uintptr_t begin, end;
  uintptr_t bias;  // of the module: symbol addresses are relative to it
};

static inline int look_for_runtime(struct dl_phdr_info* info, size_t size, void* range) {
  struct code_range* found = (struct code_range*)range;
  (void)size;
  if (strstr(info->dlpi_name, "libhalo") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    found->begin = info->dlpi_addr + part->p_vaddr;
    found->end = found->begin + part->p_memsz;
    found->bias = info->dlpi_addr;
  }
  return 1;
}

static inline struct code_range runtime_range(void) {
  struct code_range range = {0, 0, 0};
  dl_iterate_phdr(look_for_runtime, &range);
  return range;
}
