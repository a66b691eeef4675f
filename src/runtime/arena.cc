// The range: where it lies, growth, commit by 2 MiB, lock-free hand-out, pages given back.
#include "runtime/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "runtime/free_block.h"

namespace halo::runtime {
namespace {

constexpr std::size_t slab_size = std::size_t{2} << 20;  // a huge page: the unit of commitment
constexpr std::uint32_t slab_chunks = slab_size / chunk_size;
constexpr std::size_t smallest_reserve = std::size_t{64} << 20;

// Bytes of the tables beside so many bytes of chunks.
constexpr std::size_t starts_bytes(std::size_t bytes) {
  return (bytes >> chunk_shift) * starts_words * sizeof(std::uint64_t);
}
constexpr std::size_t chunks_bytes(std::size_t bytes) {
  return ((bytes >> chunk_shift) * sizeof(Chunk) + page - 1) & ~(page - 1);
}

// The range grows by an eighth of what it is, so that little address space is taken in vain.
constexpr std::size_t least_growth = 2 * slab_size;
constexpr std::size_t most_growth = std::size_t{1} << 30;

// Pages that chunks without an owner may keep in memory, and one of so many of the others'. So a
// heap that shrinks and grows again pays for few new pages, and one that stays small gives them up.
constexpr std::uint64_t warm_at_least = 32;
constexpr std::uint64_t warm_share = 64;

// Address space that a limited process can spare: an eighth of its limit.
std::size_t affordable(std::size_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const std::size_t share = (limit.rlim_cur / 8) & ~(slab_size - 1);
  return share < wanted ? share : wanted;
}

void* reserve_range(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

bool open_range(void* from, std::size_t bytes) {
  return mprotect(from, bytes, PROT_READ | PROT_WRITE) == 0;
}

void raise(std::uint64_t& place, std::uint64_t to) {
  std::uint64_t now = __atomic_load_n(&place, __ATOMIC_RELAXED);
  while (now < to && !__atomic_compare_exchange_n(&place, &now, to, false, __ATOMIC_RELEASE,
                                                  __ATOMIC_RELAXED)) {
  }
}

// Where a chunk's first block goes. Chunks of different groups are walked together; were they all
// to start at the same offset, they would compete for the same cache sets. Odd multipliers spread
// the lines of a page and, more coarsely, eight pages.
std::size_t stagger(std::uint32_t index) {
  return ((std::size_t{index} * 37) % 64) * 64 + ((std::size_t{index} * 5) % 8) * page;
}

}  // namespace

constinit Arena arena;

bool Arena::reserve(std::size_t wanted) {
  draw_link_secret();
  const std::size_t most = affordable(wanted) & ~(smallest_reserve - 1);
  if (most < smallest_reserve) return false;
  if (!begin_growing(most)) return reserve_at_once(most);
  // Opened at once: it serves on where a filter that comes later allows no more system calls.
  is_first_open_ = open_range(reinterpret_cast<void*>(base_), slab_size);
  return true;
}

bool Arena::begin_growing(std::size_t most) {
  constexpr unsigned attempts = 4;
  const std::size_t tables = starts_bytes(most) + chunks_bytes(most);
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    const std::uintptr_t at = find_room(most + tables, attempt);
    if (at == 0) return false;
    memory_range_.set(at, 0, PROT_NONE);
    starts_range_.set(at + most, 0, PROT_READ | PROT_WRITE);
    chunks_range_.set(at + most + starts_bytes(most), 0, PROT_READ | PROT_WRITE);
    base_ = at;
    starts_ = reinterpret_cast<std::atomic<std::uint64_t>*>(starts_range_.begin());
    chunks_ = reinterpret_cast<Chunk*>(chunks_range_.begin());
    most_ = most;
    if (grow_to(slab_size)) return true;
  }
  return false;
}

// Where the kernel has other ideas of where the range should lie, it cannot grow.
bool Arena::reserve_at_once(std::size_t wanted) {
  for (std::size_t want = wanted; want >= smallest_reserve;
       want = want / 4 & ~(smallest_reserve - 1)) {
    const std::size_t tables = starts_bytes(want) + chunks_bytes(want);
    void* range = reserve_range(slab_size + want + tables);
    if (range == nullptr) continue;
    base_ = (reinterpret_cast<std::uintptr_t>(range) + slab_size - 1) & ~(slab_size - 1);
    starts_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + want);
    chunks_ = reinterpret_cast<Chunk*>(base_ + want + starts_bytes(want));
    if (!open_range(starts_, tables)) {
      munmap(range, slab_size + want + tables);
      continue;
    }
    memory_range_.set(base_, want, PROT_NONE);
    starts_range_.set(base_ + want, starts_bytes(want), PROT_NONE);
    chunks_range_.set(base_ + want + starts_bytes(want), chunks_bytes(want), PROT_NONE);
    most_ = want;
    return grow_to(want);
  }
  return false;
}

// False where there is no more address space, or something else lies there.
bool Arena::grow() {
  const std::size_t now = bytes();
  if (now >= most_) return false;
  const std::size_t more = std::clamp((now / 8) & ~(slab_size - 1), least_growth, most_growth);
  return grow_to(std::min(now + more, most_)) || grow_to(now + slab_size);
}

bool Arena::grow_to(std::size_t bytes) {
  const KeepErrno keep;
  if (!starts_range_.grow(starts_bytes(bytes)) || !chunks_range_.grow(chunks_bytes(bytes)) ||
      !memory_range_.grow(bytes))
    return false;
  // Last: other threads may be asking `contains` already, and growing the range further.
  raise(granule_limit_, bytes / granule);
  raise(chunk_limit_, bytes >> chunk_shift);
  return true;
}

char* Arena::begin_of(const Chunk& chunk) const {
  return memory_of(chunk) + stagger(number_of(chunk));
}

char* Arena::first_page_of(const Chunk& chunk) const {
  return memory_of(chunk) + stagger(number_of(chunk)) / page * page;
}

bool Arena::commit(std::uint32_t slab, Pages pages) {
  void* memory = reinterpret_cast<void*>(base_ + slab * slab_size);
  if ((slab != 0 || !is_first_open_) && !open_range(memory, slab_size)) return false;
  // A wish: without it everything works the same.
  if (pages == Pages::huge) madvise(memory, slab_size, MADV_HUGEPAGE);
  return true;
}

Chunk* Arena::pop(Stack& stack) {
  std::uint64_t head = stack.head.load(std::memory_order_acquire);
  while ((head & 0xFFFFFFFFu) != 0) {
    Chunk& chunk = chunks_[(head & 0xFFFFFFFFu) - 1];
    const std::uint64_t rest = chunk.phase_or_next.load(std::memory_order_relaxed);
    const std::uint64_t tag = (head >> 32) + 1;
    if (stack.head.compare_exchange_weak(head, (tag << 32) | rest, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return &chunk;
    }
  }
  return nullptr;
}

void Arena::push(Stack& stack, Chunk* chunk) {
  std::uint64_t head = stack.head.load(std::memory_order_relaxed);
  std::uint64_t desired;
  do {
    chunk->phase_or_next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    desired = (((head >> 32) + 1) << 32) | (number_of(*chunk) + 1);
  } while (!stack.head.compare_exchange_weak(head, desired, std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
}

Chunk* Arena::take_fresh(Pages pages) {
  Region& region = region_of(pages);
  std::uint32_t half = region.half.load(std::memory_order_relaxed);
  while (half != 0)
    if (region.half.compare_exchange_weak(half, 0, std::memory_order_acquire,
                                          std::memory_order_relaxed))
      return &chunks_[half];
  std::uint32_t slab = slabs_taken_.load(std::memory_order_relaxed);
  do {
    while ((slab + 1) * slab_chunks > __atomic_load_n(&chunk_limit_, __ATOMIC_ACQUIRE))
      if (!grow()) return nullptr;
  } while (!slabs_taken_.compare_exchange_weak(slab, slab + 1, std::memory_order_relaxed));
  if (!commit(slab, pages)) {
    // The next attempt tries the same one, unless another thread has taken the one behind it.
    std::uint32_t taken = slab + 1;
    slabs_taken_.compare_exchange_strong(taken, slab, std::memory_order_relaxed);
    return nullptr;
  }
  Chunk* first = &chunks_[slab * slab_chunks];
  for (Chunk* chunk : {first, first + 1}) {
    chunk->used_before = 0;
    chunk->huge = pages == Pages::huge;
  }
  // Another thread may have taken one at the same time.
  const std::uint32_t left = region.half.exchange(number_of(first[1]), std::memory_order_acq_rel);
  if (left != 0) push(region.cold, &chunks_[left]);
  return first;
}

Chunk* Arena::acquire(GroupHeap* owner, const ThreadHeap* thread, Pages pages) {
  Region& region = region_of(pages);
  // What is in memory for the owner's sake already comes first.
  Chunk* chunk = pages == Pages::huge && half_page_of(owner) != 0 ? take_fresh(pages) : nullptr;
  if (chunk == nullptr) {
    chunk = pop(region.warm);
    if (chunk != nullptr) warm_pages_.fetch_sub(chunk->warm_pages, std::memory_order_relaxed);
  }
  if (chunk == nullptr) chunk = pop(region.cold);
  if (chunk == nullptr) chunk = take_fresh(pages);
  if (chunk == nullptr) return nullptr;
  chunk->live = 0;
  chunk->frontier = static_cast<std::uint32_t>(stagger(number_of(*chunk)));
  chunk->returned_pages = 0;
  chunk->next_of_heap = nullptr;
  chunk->loose = nullptr;
  chunk->holes = nullptr;
  chunk->uniform.store(0, std::memory_order_relaxed);
  chunk->thread = thread;
  chunk->owner.store(owner, std::memory_order_release);
  return chunk;
}

void Arena::release(Chunk* chunk) {
  chunk->thread = nullptr;
  chunk->owner.store(nullptr, std::memory_order_relaxed);
  chunk->uniform.store(0, std::memory_order_relaxed);
  const std::uint64_t touched = std::max(chunk->resident_pages, chunk->warm_pages);
  account(*chunk, 0);
  const std::uint64_t kept = keep_pages(*chunk, touched);
  chunk->warm_pages = static_cast<std::uint16_t>(kept);
  chunk->used_before = kept != 0;
  Region& region = region_of(has_huge_pages(*chunk) ? Pages::huge : Pages::normal);
  if (kept == 0) return push(region.cold, chunk);
  warm_pages_.fetch_add(kept, std::memory_order_relaxed);
  push(region.warm, chunk);
}

// Gives back the pages of an empty chunk that are too many to be kept, of the first `touched`.
// Returns how many of the first may still be in memory.
std::uint64_t Arena::keep_pages(const Chunk& chunk, std::uint64_t touched) {
  const std::uint64_t owned = owned_pages_.load(std::memory_order_relaxed);
  const std::uint64_t most = warm_at_least + owned / warm_share;
  const std::uint64_t warm = warm_pages_.load(std::memory_order_relaxed);
  const std::uint64_t room = most > warm ? most - warm : 0;
  if (touched != 0 && touched <= room) return touched;
  const bool huge = has_huge_pages(chunk);
  const std::uint64_t kept = huge ? 0 : std::min(room, touched);
  char* from = kept == 0 ? memory_of(chunk) : first_page_of(chunk) + kept * page;
  Chunk* other = huge ? take_other_half(chunk) : nullptr;
  char* to = memory_of(chunk) + (other != nullptr ? slab_size : chunk_size);
  const KeepErrno keep;
  const bool given_back = madvise(from, static_cast<std::size_t>(to - from), MADV_DONTNEED) == 0;
  // Only now: whoever takes it may write to it at once.
  if (other != nullptr) push(region_of(Pages::huge).cold, other);
  return given_back ? kept : touched;
}

// The half of a huge page behind the chunk where nobody has taken it yet, else nullptr: it is as
// good as released, too.
Chunk* Arena::take_other_half(const Chunk& chunk) {
  std::uint32_t behind = number_of(chunk) + 1;
  if (behind % slab_chunks == 0) return nullptr;
  if (!region_of(Pages::huge)
           .half.compare_exchange_strong(behind, 0, std::memory_order_acquire,
                                         std::memory_order_relaxed))
    return nullptr;
  return &chunks_[behind];
}

std::size_t Arena::half_page_of(const GroupHeap* heap) const {
  const std::uint32_t half =
      regions_[static_cast<std::uint32_t>(Pages::huge)].half.load(std::memory_order_acquire);
  if (half == 0) return 0;
  return chunks_[half - 1].owner.load(std::memory_order_relaxed) == heap ? chunk_size : 0;
}

std::uint32_t Arena::chunks_used() const {
  std::uint32_t used = slabs_taken_.load(std::memory_order_relaxed) * slab_chunks;
  for (const Region& region : regions_) used -= region.half.load(std::memory_order_relaxed) != 0;
  return used;
}

}  // namespace halo::runtime
