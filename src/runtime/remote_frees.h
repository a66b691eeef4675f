// Blocks that other threads freed, until their owner's thread takes them back.
#pragma once

#include <atomic>

#include "runtime/free_block.h"

namespace halo::runtime {

class RemoteFrees {
 public:
  // Any thread, lock-free. A block must not be in it already.
  void push(Block* block) {
    Block* head = newest_.load(std::memory_order_relaxed);
    do {
      block->set_next(head);
    } while (!newest_.compare_exchange_weak(head, block, std::memory_order_release,
                                            std::memory_order_relaxed));
  }

  bool is_empty() const {
    return taken_ == nullptr && newest_.load(std::memory_order_relaxed) == nullptr;
  }

  // Takes one out; nullptr where there is none. Those behind one that the program has written to
  // are lost. The owner only.
  Block* pop() {
    if (taken_ == nullptr) taken_ = newest_.exchange(nullptr, std::memory_order_acquire);
    Block* block = taken_;
    if (block != nullptr) taken_ = block->next();
    return block;
  }

 private:
  Block* taken_ = nullptr;  // by the owner, and what is behind it
  alignas(64) std::atomic<Block*> newest_{nullptr};
};

}  // namespace halo::runtime
