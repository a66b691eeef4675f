// Calls that the consumer has not been told of, by thread.
#pragma once

#include <cstdint>

#include "record/valgrind/api.h"
#include "record/valgrind/sender.h"

namespace halo::record::valgrind {

// Only an allocation asks for the call stack, and most calls return before the next one. So
// translated code keeps calls here; a return takes the last one away again if it matches, and only
// what is left when somebody asks is sent. For the consumer's stack a call and its return with
// nothing between are nothing.
//
// The end of a thread's calls lies in its registers (thread_words.h) while it runs. Nothing checks
// for room at a call: a thread runs 100,000 superblocks at most between two looks, and kRoomBytes
// is room for far more calls than these can make.
class PendingCalls {
 public:
  struct Call {
    uint64_t slot;  // never 0 of a call
    uint64_t return_address;
  };
  static constexpr uint64_t kRoomBytes = 32 << 20;
  static constexpr uint64_t kSparedBytes = 16 << 20;

  // The end to go on with of a thread that has been resumed with that one.
  uint64_t resume(ThreadId thread, uint64_t end, Sender& sender);
  // The thread has ended; another one may get its number.
  void forget(ThreadId thread) { ends_known_[thread] = false; }

  // Sends all and returns the new end.
  uint64_t send(ThreadId thread, uint64_t end, Sender& sender);
  // Of the last call; 0 where none is pending.
  uint64_t last_return_address(ThreadId thread, uint64_t end) const {
    if (!ends_known_[thread] || end <= reinterpret_cast<uint64_t>(begins_[thread])) return 0;
    return reinterpret_cast<const Call*>(end)[-1].return_address;
  }
  // Notes that the stack pointer was loaded from elsewhere, at this place in the order.
  static uint64_t note_stack_moved(uint64_t end);

 private:
  static constexpr uint32_t kThreads = 500;  // the core's own limit, unless it is told another

  Call* begin(ThreadId thread) { return begins_[thread]; }

  Call* begins_[kThreads + 1] = {};
  bool ends_known_[kThreads + 1] = {};
};

}  // namespace halo::record::valgrind
