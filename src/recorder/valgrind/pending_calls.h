// Calls that are not yet sent to the consumer, by thread.
#pragma once

#include <cstdint>

#include "recorder/valgrind/api.h"
#include "recorder/valgrind/sender.h"

namespace halo::valgrind {

// Only an allocation needs the call stack, and most calls return before the next one. So translated
// code stores calls here, and a matching return removes the last one. The rest is sent when the
// stack is needed.
//
// While a thread runs, the end of its calls is in its registers (thread_words.h). A call is stored
// without a bounds check. A thread runs at most 100,000 superblocks between two checks, and
// kRoomBytes is enough for more calls than these can make.
class PendingCalls {
 public:
  struct Call {
    uint64_t slot;  // never 0 for a call
    uint64_t return_address;
  };
  static constexpr uint64_t kRoomBytes = 32 << 20;
  static constexpr uint64_t kSparedBytes = 16 << 20;

  // Before any other call, when the number of threads that can live at once is known. False if
  // there is too little address space.
  bool reserve_threads(uint32_t count);
  // The end to continue with, for a thread that is resumed with that end.
  uint64_t resume(ThreadId thread, uint64_t end, Sender& sender);
  // The thread has ended; another one may reuse its number.
  void reset(ThreadId thread) { threads_[thread].has_end = false; }

  // Only this thread is in a forked child; the core reuses the numbers of the others.
  void reset_others(ThreadId thread) {
    for (ThreadId other = 0; other < count_; ++other)
      if (other != thread) reset(other);
  }

  // Sends all calls and returns the new end.
  uint64_t send(ThreadId thread, uint64_t end, Sender& sender);
  // Of the last call; 0 if none is pending.
  uint64_t last_return_address(ThreadId thread, uint64_t end) const {
    const Thread& its = threads_[thread];
    if (!its.has_end || end <= reinterpret_cast<uint64_t>(its.begin)) return 0;
    return reinterpret_cast<const Call*>(end)[-1].return_address;
  }
  // Records, in order with the calls, that the stack pointer was loaded from elsewhere.
  static uint64_t on_stack_moved(uint64_t end);

 private:
  struct Thread {
    Call* begin;
    bool has_end;
  };

  Thread* threads_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace halo::valgrind
