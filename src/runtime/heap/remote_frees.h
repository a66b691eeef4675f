// Remote frees: blocks freed by other threads, until the owner's thread collects them.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/heap/group_heap.h"
#include "runtime/pages/free_block.h"

namespace halo::runtime {

// Any thread pushes; only the owner pops. Block addresses go into a ring, so that the owner does
// not read one block to find the next: each read would miss, since another processor's cache has
// the line. If the ring is full, blocks become links of a list instead. A block in the ring has the
// mark of a freed block.
//
// The ring. A pusher reserves a place by a CAS on `reserved_`, and then stores the address
// (release). The owner reads the place (acquire), clears it (relaxed), and later publishes the room
// by storing `taken_` (release). A pusher loads `taken_` (acquire) before it reserves, so it fills
// a place only after the owner has cleared it. Invariant: `taken_` <= `reserved_` <= `taken_` +
// `kPlaces`; both counters wrap. A pusher may never fill its place, because its thread was lost in
// a fork or left a signal handler by a jump. The owner then stops at that place for good, the ring
// fills up, and the list takes over.
//
// The list. Pushers prepend to `newest_` (release); the owner takes the whole list by an exchange
// (acquire), so no ABA problem arises. `next_` and `links_` belong to the owner. Blocks of the list
// are counted, as the owner alone can follow it: the pushers add to `linked_bytes_`, the owner
// to `unlinked_bytes_`.
class RemoteFrees {
 public:
  // Any thread; lock-free. The block must not be in the ring or the list already.
  void push(Block* block) {
    uint32_t place = reserved_.load(std::memory_order_relaxed);
    do {
      if (place - taken_.load(std::memory_order_acquire) >= kPlaces) return push_link(block);
    } while (!reserved_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed));
    block->mark_freed();
    ring_[place % kPlaces].store(block, std::memory_order_release);
  }

  // The following members are for the owner only.

  bool is_empty() const {
    return next_ == reserved_.load(std::memory_order_relaxed) && links_ == nullptr &&
           newest_.load(std::memory_order_relaxed) == nullptr;
  }

  // Takes a block; nullptr if none is available, or a reserved place is not filled yet. The block
  // has the mark of a freed one, unless the program has overwritten it or it was freed twice.
  Block* pop() {
    std::atomic<Block*>& place = ring_[next_ % kPlaces];
    Block* block = place.load(std::memory_order_acquire);
    if (block == nullptr) return pop_link();
    place.store(nullptr, std::memory_order_relaxed);
    ++next_;
    return block;
  }

  // Publishes the places of all popped blocks as free.
  void make_room() { taken_.store(next_, std::memory_order_release); }

  // Bytes of the blocks that were pushed and not popped. Any thread; it may be slightly wrong while
  // others push and pop.
  //
  // A block of the ring may be in use again before its size is read: the tables of its page are
  // valid, whatever they contain by then.
  uint64_t bytes() const {
    const uint64_t unlinked = unlinked_bytes_.load(std::memory_order_relaxed);
    const uint64_t linked = linked_bytes_.load(std::memory_order_relaxed);
    uint64_t sum = linked > unlinked ? linked - unlinked : 0;
    const uint32_t end = reserved_.load(std::memory_order_relaxed);
    const uint32_t begin = taken_.load(std::memory_order_relaxed);
    if (end - begin > kPlaces) return sum;
    for (uint32_t place = begin; place != end; ++place)
      if (const Block* block = ring_[place % kPlaces].load(std::memory_order_acquire))
        sum += bytes_of(block);
    return sum;
  }

 private:
  static constexpr uint32_t kPlaces = 512;

  static uint64_t bytes_of(const Block* block) {
    return GroupHeap::size_of(arena.page_of(block), block);
  }

  [[gnu::noinline]] void push_link(Block* block) {
    linked_bytes_.fetch_add(bytes_of(block), std::memory_order_relaxed);
    Block* head = newest_.load(std::memory_order_relaxed);
    do {
      block->set_next(head);
    } while (!newest_.compare_exchange_weak(head, block, std::memory_order_release,
                                            std::memory_order_relaxed));
  }

  // If the program has overwritten a link, the rest of the list leaks.
  [[gnu::noinline]] Block* pop_link() {
    if (links_ == nullptr) links_ = newest_.exchange(nullptr, std::memory_order_acquire);
    Block* block = links_;
    if (block == nullptr) return nullptr;
    links_ = block->next();
    if (block->is_link()) block->mark_freed();
    const uint64_t before = unlinked_bytes_.load(std::memory_order_relaxed);
    unlinked_bytes_.store(before + bytes_of(block), std::memory_order_relaxed);
    return block;
  }

  uint32_t next_ = 0;       // the place that the owner reads next
  Block* links_ = nullptr;  // the list that the owner has taken
  alignas(64) std::atomic<uint32_t> taken_{0};
  alignas(64) std::atomic<uint32_t> reserved_{0};
  std::atomic<Block*> newest_{nullptr};  // head of the list
  std::atomic<uint64_t> linked_bytes_{0}, unlinked_bytes_{0};
  alignas(64) std::atomic<Block*> ring_[kPlaces]{};
};

}  // namespace halo::runtime
