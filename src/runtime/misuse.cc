// A bit for each granule of the arena: set where a block in use starts.
#ifdef HALO_CHECK

#include "runtime/misuse.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/keep_errno.h"
#include "runtime/arena.h"
#include "runtime/group_heap.h"

namespace halo::runtime {
namespace {

using Word = std::atomic<std::uint64_t>;

Word* map_bits() {
  void* p = mmap(nullptr, arena.bytes() / granule / 8, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<Word*>(p);
}

// nullptr where there is no room for them: then nothing is checked.
Word* in_use() {
  static constinit std::atomic<Word*> bits{nullptr};
  Word* found = bits.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  Word* made = map_bits();
  if (made == nullptr || bits.compare_exchange_strong(found, made)) return made;
  munmap(made, arena.bytes() / granule / 8);
  return found;
}

std::uintptr_t granule_of(const void* p) {
  return (reinterpret_cast<std::uintptr_t>(p) - arena.base()) / granule;
}

void report(const void* p) {
  const GroupHeap* heap = arena.chunk_of(p).owner.load(std::memory_order_relaxed);
  char line[160];
  const int n =
      heap == nullptr
          ? snprintf(line, sizeof line, "halo: free of %p, which was never allocated\n", p)
          : snprintf(line, sizeof line,
                     "halo: free of %p in group %u, where no block in use starts (freed twice?)\n",
                     p, heap->group());
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(n)) < 0) return;
}

}  // namespace

void* note_block(void* p) {
  const KeepErrno keep;
  Word* bits = p == nullptr ? nullptr : in_use();
  if (bits != nullptr) bits[granule_of(p) / 64].fetch_or(std::uint64_t{1} << (granule_of(p) % 64));
  return p;
}

bool forget_block(const void* p) {
  const KeepErrno keep;
  Word* bits = in_use();
  if (bits == nullptr) return true;
  const std::uint64_t bit = std::uint64_t{1} << (granule_of(p) % 64);
  const bool aligned = reinterpret_cast<std::uintptr_t>(p) % granule == 0;
  if (aligned && (bits[granule_of(p) / 64].fetch_and(~bit) & bit) != 0) return true;
  report(p);
  return false;
}

}  // namespace halo::runtime

#endif
