// Requests to userfaultfd for single pages.
//
// A move may have been made although it fails with EEXIST: seen with Linux 6.18 if a page is being
// migrated to another frame (compaction). The kernel then repeats a move that has succeeded, and
// finds its destination taken. Of several pages, some of the next ones may be moved, too.
#pragma once

#include <errno.h>
#include <sys/mman.h>

#include "studies/pollution/traps/user_faults.h"

namespace halo::traps {

inline constexpr long kRetryNs = 50'000;  // while the kernel is short of memory

inline void close_file(int file) { call(SYS_close, file); }

inline uintptr_t page_at(uint64_t address) { return address & ~uintptr_t{4095}; }

// Threads that wait for the page access it again.
inline void wake(int file, uintptr_t page) {
  uffdio_range range{page, 4096};
  control(file, UFFDIO_WAKE, range);
}

// Zero, or a negative error number.
inline long copy_page(int file, uintptr_t to, uintptr_t from) {
  uffdio_copy request{};
  request.dst = to;
  request.src = from;
  request.len = 4096;
  return control(file, UFFDIO_COPY, request);
}

// Whether the page is where it belongs: it has been put there, or is there already, or its address
// is not mapped any more.
inline bool is_settled(long answer) {
  return answer == 0 || answer == -EEXIST || answer == -ENOENT || answer == -ESRCH;
}

// Memory that is not resident yet; 0 if there is none.
inline uintptr_t map_bytes(size_t bytes) {
  const long at = call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  return at < 0 && at > -4096 ? 0 : static_cast<uintptr_t>(at);
}

}  // namespace halo::traps
