// Remote frees: blocks freed by other threads, until the owner's thread collects them.
#pragma once

#include <atomic>
#include <cstdint>

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
// `places`; both counters wrap. A pusher may never fill its place, because its thread was lost in a
// fork or left a signal handler by a jump. The owner then stops at that place for good, the ring
// fills up, and the list takes over.
//
// The list. Pushers prepend to `newest_` (release); the owner takes the whole list by an exchange
// (acquire), so no ABA problem arises. `next_` and `links_` belong to the owner.
class RemoteFrees {
 public:
  // Any thread; lock-free. The block must not be in the ring or the list already.
  void push(Block* block) {
    std::uint32_t place = reserved_.load(std::memory_order_relaxed);
    do {
      if (place - taken_.load(std::memory_order_acquire) >= places) return push_link(block);
    } while (!reserved_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed));
    block->mark_freed();
    ring_[place % places].store(block, std::memory_order_release);
  }

  // The following members are for the owner only.

  bool is_empty() const {
    return next_ == reserved_.load(std::memory_order_relaxed) && links_ == nullptr &&
           newest_.load(std::memory_order_relaxed) == nullptr;
  }

  // Takes a block; nullptr if none is available, or a reserved place is not filled yet. The block
  // has the mark of a freed one, unless the program has overwritten it or it was freed twice.
  Block* pop() {
    std::atomic<Block*>& place = ring_[next_ % places];
    Block* block = place.load(std::memory_order_acquire);
    if (block == nullptr) return pop_link();
    place.store(nullptr, std::memory_order_relaxed);
    ++next_;
    return block;
  }

  // Publishes the places of all popped blocks as free.
  void make_room() { taken_.store(next_, std::memory_order_release); }

 private:
  static constexpr std::uint32_t places = 512;

  void push_link(Block* block) {
    Block* head = newest_.load(std::memory_order_relaxed);
    do {
      block->set_next(head);
    } while (!newest_.compare_exchange_weak(head, block, std::memory_order_release,
                                            std::memory_order_relaxed));
  }

  // If the program has overwritten a link, the rest of the list leaks.
  Block* pop_link() {
    if (links_ == nullptr) links_ = newest_.exchange(nullptr, std::memory_order_acquire);
    Block* block = links_;
    if (block == nullptr) return nullptr;
    links_ = block->next();
    if (block->is_link()) block->mark_freed();
    return block;
  }

  std::uint32_t next_ = 0;  // the place that the owner reads next
  Block* links_ = nullptr;  // the list that the owner has taken
  alignas(64) std::atomic<std::uint32_t> taken_{0};
  alignas(64) std::atomic<std::uint32_t> reserved_{0};
  std::atomic<Block*> newest_{nullptr};  // head of the list
  alignas(64) std::atomic<Block*> ring_[places]{};
};

}  // namespace halo::runtime
