// When bursts begin, and what is sent of them.
#pragma once

#include <cstdint>

namespace halo::native {

struct BurstThread;
struct Thread;

// Each thread has a timer of its processor time, so that all have bursts in proportion to it. The
// first burst of each of the first threads begins with its first allocation, and is long, as the
// shortest programs have no other. The next ones are close together, until all of these have cost
// kFirstCost. Later ones are as far apart as their cost demands: they take one part in kShare of
// the thread's time.
class Sampler {
 public:
  static constexpr uint64_t kShare = 10;  // one in so much
  static constexpr uint32_t kFirstThreads = 16;
  static constexpr uint64_t kFirstCost = 15'000'000;  // ns of processor time

  void begin();
  // For a recording that begins later: the first bursts are as short as all others.
  static void begin_gently();
  // What the threads of a stream need, one after the other.
  struct Kept {
    int32_t timer = 0;  // its number plus one; 0: none
    BurstThread* burst = nullptr;
  };
  // A thread is recorded from now on. Returns whether begin_now() is to follow, when the thread
  // leaves the engine.
  bool begin_thread(Kept& kept);
  // Begins a burst of the calling thread, in the function that calls this.
  static void begin_now();
  // The calling thread has no more bursts.
  static void end_thread();
  // In a forked child, before its thread is recorded again.
  void after_fork();
  // The thread is about to send something else: what its burst has recorded precedes that.
  static void flush(Thread& thread);
  // Of the part of the calling thread's burst that is being sent: the time that each of its
  // accesses stands for, in ns; 1 if it stands for itself.
  static uint64_t weight();

 private:
  bool is_on_ = false;
};

extern constinit Sampler sampler;

}  // namespace halo::native
