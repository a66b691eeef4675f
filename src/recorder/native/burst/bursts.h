// Bursts of recorded accesses: parts of a thread's run that are executed from the block cache.
#pragma once

#include <signal.h>
#include <sys/ucontext.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "recorder/native/burst/blocks.h"
#include "recorder/native/burst/storage.h"
#include "recorder/native/burst/stubs.h"
#include "recorder/native/burst/translator.h"

namespace halo::native {

// One access that a burst has recorded.
struct Access {
  uint64_t address;
  uint64_t code;
  const Operand* operand;
};

// A burst begins in a signal handler, and ends after a number of words of records (blocks and
// addresses), at system calls that system_calls.h does not list, and at code that is not to be
// translated. Then the thread goes on natively, with the registers, the flags and the signal mask
// that it would have. During a burst, only signals that the thread itself causes arrive; all do
// while it is paused in a system call that may wait. A handler may then leave for good, by longjmp:
// the next call of start() notices that.
class Bursts {
 public:
  // Called by flush(), for accesses of the calling thread, in order.
  using Sink = void (*)(std::span<const Access> accesses);
  enum class Change : uint8_t { kIsFull, kPauses, kResumes, kEnds };
  // Called on the stack of the dispatcher, or in a signal handler. When the buffer is full, and
  // when a burst pauses or ends, what is not flushed is dropped.
  using Observer = void (*)(Change change);

  // Of a buffer: few, as it evicts the program's data from the first caches.
  static constexpr uint64_t kBufferWords = 4096;
  static constexpr int kMaxChanging = 64, kMaxNative = 8;

  // `skips_own`: accesses of the module that this is compiled into are not recorded. Returns false
  // if the memory for code is refused: there are no bursts then.
  bool begin(Sink sink, Observer observer, bool skips_own);
  // Adds functions, at most kMaxNative, that run natively in a burst. They do not throw. They are
  // called by their addresses: not inlined.
  template <class... Functions>
  void run_natively(Functions*... functions) {
    ((native_[native_count_++ % kMaxNative] = reinterpret_cast<uint64_t>(functions)), ...);
  }
  // Lets the interrupted code go on in a burst of that many words. Returns false
  // if it cannot: it is the recorder's, or in a burst, paused or not.
  // `in_own`: it may be the recorder's.
  bool start(ucontext_t& interrupted, uint64_t words, bool in_own = false);
  // The calling thread has the memory of one that has ended; if that is null, it gets new memory.
  void adopt(BurstThread*& former);
  // The thread is to be cancelled: it has no more bursts. If it is paused in a system call, it goes
  // on natively, with the call at its own place.
  void leave_call(ucontext_t& interrupted);
  // Passes on what the calling thread has recorded since the last call.
  void flush();
  static bool is_active() { return own_storage().active != kInactive; }
  // Of records, in the calling thread's present burst.
  uint64_t words() const;
  // If the signal has ended a paused system call without need, it is made again.
  void make_call_again(ucontext_t& interrupted) const;
  // Whether bursts go on behind system calls that may wait; they do at first.
  void set_pausing(bool wanted) { pauses_.store(wanted, std::memory_order_relaxed); }
  // If the fault is in translated code, gives its handler the state that it would have natively,
  // and ends the burst.
  void leave_at_fault(ucontext_t& faulted);

  // Code has changed or was unmapped: nothing that is translated is used again.
  void forget() { wants_clear_.store(true, std::memory_order_release); }
  // Code in this range may change from now on: it is not translated any more.
  void may_change(uint64_t address, uint64_t size);
  // In a forked child, in its only thread.
  void after_fork();

 private:
  static Next dispatch(BurstThread& thread);
  Next go_on(BurstThread& thread);
  Next end(BurstThread& thread, uint64_t at);
  Next pause(BurstThread& thread, uint64_t at);
  bool resume(BurstThread& thread);
  void fill_again(BurstThread& thread);
  void finish(BurstThread& thread);
  bool use_cache();
  bool is_native(uint64_t code) const;
  Block* block_at(BurstThread& thread, uint64_t source);
  CodeRange range_of(uint64_t code) const;
  BurstThread* thread_state();
  void clear_if_wanted();

  BlockCache cache_;
  Translator translator_{cache_};
  Stubs stubs_;
  Sink sink_ = nullptr;
  Observer observer_ = nullptr;
  bool skips_own_ = false;
  std::atomic<bool> translating_{false};  // the lock of the cache
  std::atomic<bool> wants_clear_{false};
  std::atomic<bool> pauses_{true};
  std::atomic<uint32_t> active_{0};  // threads in bursts that are not paused
  // Modules whose code has been writable, by their begins; 0: unused. Only added to.
  std::atomic<uint64_t> changing_[kMaxChanging] = {};
  uint64_t native_[kMaxNative] = {};  // functions that run natively; 0: unused
  int native_count_ = 0;
  bool is_ready_ = false;
};

extern constinit Bursts bursts;

}  // namespace halo::native
