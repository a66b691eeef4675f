// Threads that run one at a time, so that a sequence of operations interleaves reproducibly; or all
// concurrently.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace halo::fuzz {

class WorkerPool {
 public:
  using Work = std::function<void()>;

  // Member 0 is the calling thread, which never ends.
  explicit WorkerPool(unsigned members);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(members_.size()); }

  // Runs `work` in that member's thread, started if necessary, and waits for it.
  void run(unsigned member, const Work& work);

  // Ends the member's thread; `last` runs in a destructor of its thread-specific data, after those
  // of all keys made before this pool.
  void end(unsigned member, const Work& last);

  // Runs `work(member)` in all of them concurrently.
  void run_all(const std::function<void(unsigned)>& work);

 private:
  struct Member {
    std::thread thread;
    std::mutex mutex;
    std::condition_variable changed;
    Work work;  // empty: no work
    Work last;
    bool leaving = false;
  };

  static void live(Member& member, pthread_key_t key);
  static void run_at_thread_end(void* member);
  void begin(Member& member, const Work& work);
  static void wait(Member& member);

  pthread_key_t key_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace halo::fuzz
