// Blocks that other threads freed, until their owner's thread takes them back.
//
// Their addresses go into a ring, so that the owner need not look at one block to find the next:
// each look would wait for another processor's cache. A block in the ring bears the mark of a freed
// one. Where the ring is full, blocks become links of a list instead.
//
// Any thread puts, the owner takes. A place of the ring is reserved first and filled then: whoever
// never comes to fill it (its thread was lost in a fork, or left a signal handler by a jump) stops
// the ring for good, and the list takes over. Invariants: `taken_` <= `reserved_` <= `taken_` +
// `places`; a place is empty again before `taken_` passes it (release), and is filled only after it
// was seen to have passed (acquire). Both counters only grow, and wrap.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/free_block.h"

namespace halo::runtime {

class RemoteFrees {
 public:
  // Any thread, lock-free. A block must not be in it already.
  void push(Block* block) {
    std::uint32_t place = reserved_.load(std::memory_order_relaxed);
    do {
      if (place - taken_.load(std::memory_order_acquire) >= places) return push_link(block);
    } while (!reserved_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed));
    block->mark_freed();
    ring_[place % places].store(block, std::memory_order_release);
  }

  // The owner only, from here on.

  bool is_empty() const {
    return next_ == reserved_.load(std::memory_order_relaxed) && links_ == nullptr &&
           newest_.load(std::memory_order_relaxed) == nullptr;
  }

  // Takes one out; nullptr where there is none, or it is not there yet. It bears the mark of a
  // freed block, unless the program has written to it since, or it was freed twice.
  Block* pop() {
    std::atomic<Block*>& place = ring_[next_ % places];
    Block* block = place.load(std::memory_order_acquire);
    if (block == nullptr) return pop_link();
    place.store(nullptr, std::memory_order_relaxed);
    ++next_;
    return block;
  }

  // Makes room for as many as were popped.
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

  // Links behind one that the program has written to are lost.
  Block* pop_link() {
    if (links_ == nullptr) links_ = newest_.exchange(nullptr, std::memory_order_acquire);
    Block* block = links_;
    if (block == nullptr) return nullptr;
    links_ = block->next();
    if (block->is_link()) block->mark_freed();
    return block;
  }

  std::uint32_t next_ = 0;  // place that the owner takes from
  Block* links_ = nullptr;  // of the list, taken over by the owner, and what is behind it
  alignas(64) std::atomic<std::uint32_t> taken_{0};
  alignas(64) std::atomic<std::uint32_t> reserved_{0};
  std::atomic<Block*> newest_{nullptr};  // of the list
  alignas(64) std::atomic<Block*> ring_[places]{};
};

}  // namespace halo::runtime
