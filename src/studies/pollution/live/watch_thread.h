// The thread of the watch, and how the program's threads reach it.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "studies/pollution/live/command_queue.h"
#include "studies/pollution/live/live_watch.h"

namespace halo::watching {

// All functions but the constructor may be called by any thread. None changes errno. Without a
// thread, or after its end, none makes a system call but `start` and `is_of_this_process`.
class WatchThread {
 public:
  WatchThread(LiveWatch& live, CommandQueue& queue)
      : live_(live), queue_(queue), owner_(getpid()) {}
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  // Starts the thread at the first call; not in a child of the process.
  void start();
  // False in a child of the process: it has no such thread, and no armed pages.
  bool is_of_this_process() const { return getpid() == owner_; }
  // To be called in a child, whose process id may be the same in a namespace of its own.
  void forget() { owner_ = 0; }
  // Whether there will be no watch any more.
  bool is_off() const { return stage_ == Stage::kOff || stopped_; }
  // Why there was no watch; empty if there was one.
  const char* refusal() const { return refusal_; }

  // Waits until the thread sees it; for a while only if the bell is not armed. `count`: how often
  // the caller rang before.
  void ring(int count) const;
  // The thread does not answer after `kMaxRings`: no thread waits for it any more.
  void give_up();
  static constexpr int kMaxRings = 20'000;  // a second or more

  // Returns once all children that were forked before have the content of armed pages.
  void fill_children() const;
  // Disarms all pages, and keeps the thread from arming others until `resume`. Both may be nested.
  void pause();
  void resume() { --live_.pauses(); }
  // Disarms all pages and ends the watch. Waits for about a second at most.
  void stop();
  // Likewise, and waits until the thread has ended. Returns false if there is none any more.
  bool join();

 private:
  enum class Stage : uint8_t { kWaiting, kStarting, kWatching, kOff };

  static void* run(void* self);
  void serve();
  void wait_for_passes(uint32_t count) const;

  LiveWatch& live_;
  CommandQueue& queue_;
  pid_t owner_;
  std::atomic<Stage> stage_{Stage::kWaiting};
  std::atomic<const volatile char*> bell_{nullptr};
  std::atomic<const char*> refusal_{""};
  std::atomic<bool> ends_{false}, stopped_{false};
  std::atomic<bool> can_be_joined_{false};
  pthread_t thread_{};
};

}  // namespace halo::watching
