// glibc's functions about an allocator's memory, in the library after this one.
#pragma once

#include <cstddef>
#include <cstdint>

struct _IO_FILE;  // FILE

// As in malloc.h, which declares functions that the runtime defines.
struct HaloMallinfo {
  int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct HaloMallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

namespace halo::runtime {

// Null if there is no such function.
struct NextStatistics {
  HaloMallinfo (*mallinfo)();
  HaloMallinfo2 (*mallinfo2)();
  int (*malloc_info)(int, _IO_FILE*);
  void (*malloc_stats)();
  int (*malloc_trim)(size_t);
};

// Looked up by the first call: activation makes it, since the linker's lock is waited for.
const NextStatistics& next_statistics();

}  // namespace halo::runtime
