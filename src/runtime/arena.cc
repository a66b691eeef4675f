// The reserved range: reservation ladder, commit by 2 MiB, lock-free hand-out, pages given back.
#include "runtime/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/keep_errno.h"

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
    // All of the side table may be looked at. (Where that is refused, so would everything be.)
    if (mprotect(chunks_, header_bytes, PROT_READ) != 0) {
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
    __atomic_store_n(&chunk_limit_, count, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

char* Arena::begin_of(const Chunk& chunk) const { return memory_of(chunk) + stagger(chunk.index); }

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
    const std::uint64_t rest = chunk.next_free.load(std::memory_order_relaxed);
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
    chunk->next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    desired = (((head >> 32) + 1) << 32) | (chunk->index + 1);
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
  chunk.index = index;
  chunk.used_before = 0;
  return &chunk;
}

Chunk* Arena::acquire(GroupHeap* owner, const ThreadHeap* thread, Pages pages) {
  Region& region = regions_[static_cast<std::uint32_t>(pages)];
  Chunk* chunk = pop(region.warm);
  if (chunk != nullptr) warm_pages_.fetch_sub(chunk->warm_pages, std::memory_order_relaxed);
  if (chunk == nullptr) chunk = pop(region.cold);
  if (chunk == nullptr) chunk = take_fresh(region);
  if (chunk == nullptr) return nullptr;
  chunk->live = 0;
  chunk->frontier = static_cast<std::uint32_t>(stagger(chunk->index));
  chunk->resident_pages = 0;
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
  chunk->used_before = 1;
  Region& region = regions_[has_huge_pages(*chunk) ? 1 : 0];
  if (chunk->resident_pages > chunk->warm_pages) chunk->warm_pages = chunk->resident_pages;
  account(*chunk, 0);
  const std::uint64_t owned = owned_pages_.load(std::memory_order_relaxed);
  const std::uint64_t warm = warm_pages_.load(std::memory_order_relaxed) + chunk->warm_pages;
  const KeepErrno keep;
  if (warm > warm_at_least + owned / warm_share &&
      madvise(memory_of(*chunk), chunk_size, MADV_DONTNEED) == 0) {
    chunk->used_before = 0;
    chunk->warm_pages = 0;
    return push(region.cold, chunk);
  }
  warm_pages_.fetch_add(chunk->warm_pages, std::memory_order_relaxed);
  push(region.warm, chunk);
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
