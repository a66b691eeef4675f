// The reserved range: reservation ladder, commit by 2 MiB, lock-free hand-out, pages given back.
#include "runtime/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "runtime/free_block.h"

namespace halo::runtime {
namespace {

constexpr std::size_t slab_size = std::size_t{2} << 20;  // a huge page: the unit of commitment
constexpr std::size_t smallest_reserve = std::size_t{64} << 20;

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
  for (std::size_t want = affordable(wanted) & ~(smallest_reserve - 1); want >= smallest_reserve;
       want = want / 4 & ~(smallest_reserve - 1)) {
    const std::size_t count = want >> chunk_shift;
    const std::size_t header_bytes = (count * sizeof(Chunk) + page - 1) & ~(page - 1);
    const std::size_t starts_bytes = count * starts_words * sizeof(std::uint64_t);
    const std::size_t total = slab_size + want + starts_bytes + header_bytes;
    void* range = reserve_range(total);
    if (range == nullptr) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(range);
    base_ = (begin + slab_size - 1) & ~(slab_size - 1);
    starts_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + want);
    chunks_ = reinterpret_cast<Chunk*>(base_ + want + starts_bytes);
    // All of the tables may be looked at. (Where that is refused, so would everything be.)
    if (mprotect(starts_, starts_bytes + header_bytes, PROT_READ) != 0) {
      munmap(range, total);
      continue;
    }
    regions_[0].first = 0;
    regions_[0].limit = static_cast<std::uint32_t>(count / 2);
    regions_[1].first = regions_[0].limit;
    regions_[1].limit = static_cast<std::uint32_t>(count / 2);
    // A wish: without it everything works the same.
    madvise(reinterpret_cast<void*>(base_ + want / 2), want / 2, MADV_HUGEPAGE);
    // Last: other threads may be asking `contains` already.
    __atomic_store_n(&granule_limit_, want / granule, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk_limit_, count, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

char* Arena::begin_of(const Chunk& chunk) const {
  return memory_of(chunk) + stagger(number_of(chunk));
}

char* Arena::first_page_of(const Chunk& chunk) const {
  return memory_of(chunk) + stagger(number_of(chunk)) / page * page;
}

bool Arena::commit(std::uint32_t index) {
  const std::uint32_t slab = index & ~1u;
  void* memory = reinterpret_cast<void*>(base_ + (std::size_t{slab} << chunk_shift));
  auto* header = reinterpret_cast<char*>(chunks_ + slab);
  header -= reinterpret_cast<std::uintptr_t>(header) % page;
  const std::size_t starts_bytes = 2 * starts_words * sizeof(std::uint64_t);
  // The memory last: where there is not enough for all, the next allocator may have what there is.
  return open_range(header, page) && open_range(starts_ + slab * starts_words, starts_bytes) &&
         open_range(memory, slab_size);
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

Chunk* Arena::take_fresh(Region& region) {
  std::uint32_t taken = region.fresh.load(std::memory_order_relaxed);
  do {
    if (taken >= region.limit) return nullptr;
  } while (!region.fresh.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
  const std::uint32_t index = region.first + taken;
  if (!commit(index)) {
    // The next attempt tries the same one, unless another thread has taken the one behind it.
    ++taken;
    region.fresh.compare_exchange_strong(taken, taken - 1, std::memory_order_relaxed);
    return nullptr;
  }
  Chunk& chunk = chunks_[index];
  chunk.used_before = 0;
  return &chunk;
}

Chunk* Arena::acquire(GroupHeap* owner, const ThreadHeap* thread, Pages pages) {
  Region& region = regions_[static_cast<std::uint32_t>(pages)];
  // What is in memory for the owner's sake already comes first.
  Chunk* chunk = pages == Pages::huge && half_page_of(owner) != 0 ? take_fresh(region) : nullptr;
  if (chunk == nullptr) {
    chunk = pop(region.warm);
    if (chunk != nullptr) warm_pages_.fetch_sub(chunk->warm_pages, std::memory_order_relaxed);
  }
  if (chunk == nullptr) chunk = pop(region.cold);
  if (chunk == nullptr) chunk = take_fresh(region);
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
  Region& region = regions_[has_huge_pages(*chunk) ? 1 : 0];
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
  if (other != nullptr) push(regions_[static_cast<std::uint32_t>(Pages::huge)].cold, other);
  return given_back ? kept : touched;
}

// The half of a huge page behind the chunk where nobody has taken it yet, else nullptr: it is as
// good as released, too.
Chunk* Arena::take_other_half(const Chunk& chunk) {
  Region& region = regions_[static_cast<std::uint32_t>(Pages::huge)];
  std::uint32_t behind = number_of(chunk) - region.first + 1;
  if (behind % 2 == 0) return nullptr;
  if (!region.fresh.compare_exchange_strong(behind, behind + 1, std::memory_order_relaxed))
    return nullptr;
  Chunk& other = chunks_[number_of(chunk) + 1];
  return &other;
}

// Chunks are taken in order, so it can only be the half behind the last one.
std::size_t Arena::half_page_of(const GroupHeap* heap) const {
  const Region& region = regions_[static_cast<std::uint32_t>(Pages::huge)];
  const std::uint32_t taken = region.fresh.load(std::memory_order_relaxed);
  if (taken % 2 == 0 || taken > region.limit) return 0;
  const Chunk& last = chunks_[region.first + taken - 1];
  return last.owner.load(std::memory_order_relaxed) == heap ? chunk_size : 0;
}

std::uint32_t Arena::chunks_used() const {
  return regions_[0].fresh.load(std::memory_order_relaxed) +
         regions_[1].fresh.load(std::memory_order_relaxed);
}

}  // namespace halo::runtime
