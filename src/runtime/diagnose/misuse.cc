// Detects misuse by a bitmap of the arena with a bit for each granule: set if a block in use starts
// there.
#ifdef HALO_CHECK

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/keep_errno.h"
#include "runtime/base/diagnosis.h"
#include "runtime/heap/block_spacing.h"
#include "runtime/heap/group_heap.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/pages/arena.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

using Word = std::atomic<uint64_t>;

Word* map_bits() {
  void* p = mmap(nullptr, arena.max_bytes() / kGranule / 8, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<Word*>(p);
}

// nullptr if the bitmap cannot be mapped; nothing is checked then.
Word* in_use() {
  static constinit std::atomic<Word*> bits{nullptr};
  Word* found = bits.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  Word* made = map_bits();
  if (made == nullptr || bits.compare_exchange_strong(found, made)) return made;
  munmap(made, arena.max_bytes() / kGranule / 8);
  return found;
}

uintptr_t granule_of(const void* p) {
  return (reinterpret_cast<uintptr_t>(p) - arena.base()) / kGranule;
}

bool is_marked(const Word* bits, const void* p) {
  return (bits[granule_of(p) / 64].load() >> (granule_of(p) % 64)) % 2 != 0;
}

__attribute__((format(printf, 1, 2))) void print(const char* format, ...) {
  char line[200];
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (n > 0 && write(STDERR_FILENO, line, static_cast<size_t>(n)) < 0) return;
}

// The start of the block, free or uncut range that contains `p`; null if unknown.
const char* block_around(const Page& page, const void* p) {
  const auto* at = static_cast<const char*>(p);
  if (page.block == 0) return Starts(page).last_at(p);
  if (page.heap == nullptr) return nullptr;
  const PageLayout& layout = page.heap->layout();
  const char* memory = arena.memory_of(page);
  const uint32_t first = layout.first(arena.link_of(page), page.block);
  if (at < memory + first) return nullptr;
  uint32_t offset = first, behind = first;
  while (behind <= at - memory) {
    offset = behind;
    behind = layout.row(first, offset, 0, page.block).behind;
  }
  return memory + offset;
}

// The owner of a block, as text such as "group 7".
struct Owner {
  char text[32] = "pages that groups share";
  explicit Owner(const Page& page) {
    if (page.thread.load(std::memory_order_relaxed) == kSteppingOwner) return;
    const uint32_t group = page.heap == nullptr ? 0 : page.heap->group();
    if (!is_shared_heap(group)) snprintf(text, sizeof text, "group %u", group);
  }
};

// Reports a free of an address that is not a block in use.
void report_free(const Word* bits, const void* p) {
  const Page& page = arena.page_of(p);
  const bool owned = page.thread.load(std::memory_order_relaxed) != nullptr;
  const char* block = owned ? block_around(page, p) : nullptr;
  if (block == nullptr) return print("halo: wrong free: no block was ever allocated at %p\n", p);
  const size_t inside = static_cast<size_t>(static_cast<const char*>(p) - block);
  const size_t bytes = GroupHeap::size_of(page, block);
  const Owner owner(page);
  if (inside == 0)
    print("halo: double free: the block of %zu bytes at %p in %s is not in use\n", bytes, p,
          owner.text);
  else
    print("halo: wrong free: %p lies %zu bytes inside a%s block of %zu bytes in %s\n", p, inside,
          is_marked(bits, block) ? "" : " freed", bytes, owner.text);
}

}  // namespace

void* track_alloc(void* p) {
  const KeepErrno keep;
  Word* bits = p == nullptr ? nullptr : in_use();
  if (bits != nullptr) bits[granule_of(p) / 64].fetch_or(uint64_t{1} << (granule_of(p) % 64));
  return p;
}

bool track_free(const void* p) {
  const KeepErrno keep;
  Word* bits = in_use();
  if (bits == nullptr) return true;
  const uint64_t bit = uint64_t{1} << (granule_of(p) % 64);
  const bool aligned = reinterpret_cast<uintptr_t>(p) % kGranule == 0;
  if (aligned && (bits[granule_of(p) / 64].fetch_and(~bit) & bit) != 0) return true;
  report_free(bits, p);
  return false;
}

void report_overwritten(const void* p) {
  const KeepErrno keep;
  const Page& page = arena.page_of(p);
  print("halo: write after free: the freed block of %zu bytes at %p in %s was written to\n",
        GroupHeap::size_of(page, p), p, Owner(page).text);
}

}  // namespace halo::runtime

#endif
