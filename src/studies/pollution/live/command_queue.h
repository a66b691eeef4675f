// What the program's threads tell the thread of the watch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::watching {

struct Command {
  enum class Kind : uint8_t { kAllocated, kFreeing };
  Kind kind;
  uint32_t group;
  void* p;
  size_t bytes;
  uint32_t* state;
  uint32_t announced;  // the state's value then
};

// A bounded queue with any number of producers and one consumer, without locks (Vyukov). A slot's
// `turn` is its position when it may be filled, and one more when it may be read; both add the size
// for each round.
class CommandQueue {
 public:
  static constexpr size_t kSize = 1024;

  CommandQueue() {
    for (size_t at = 0; at < kSize; ++at) slots_[at].turn.store(at, std::memory_order_relaxed);
  }

  // Returns false if the queue is full.
  bool push(const Command& command) {
    size_t at = end_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at % kSize];
      const size_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn < at) return false;
      if (turn > at) {
        at = end_.load(std::memory_order_relaxed);
        continue;
      }
      if (!end_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
      slot.command = command;
      slot.turn.store(at + 1, std::memory_order_release);
      return true;
    }
  }

  // Returns false if the queue is empty. Only the consumer may call it.
  bool pop(Command& command) {
    Slot& slot = slots_[begin_ % kSize];
    if (slot.turn.load(std::memory_order_acquire) != begin_ + 1) return false;
    command = slot.command;
    slot.turn.store(begin_ + kSize, std::memory_order_release);
    ++begin_;
    return true;
  }

 private:
  struct Slot {
    std::atomic<size_t> turn;
    Command command;
  };

  std::array<Slot, kSize> slots_;
  std::atomic<size_t> end_{0};
  size_t begin_ = 0;
};

}  // namespace halo::watching
