// Threads that take turns, end and come again, so that a sequence of operations always interleaves
// the same way; or all run at once.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace halo::fuzz {

class Crew {
 public:
  using Work = std::function<void()>;

  // Member 0 is the calling thread, which never ends.
  explicit Crew(unsigned members);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  unsigned size() const { return static_cast<unsigned>(members_.size()); }

  // Runs `work` in that member's thread, started if there is none, and waits for it.
  void run(unsigned member, const Work& work);

  // Ends the member's thread; `last` runs in a destructor of its thread-specific data, after those
  // of all keys made before this crew.
  void end(unsigned member, const Work& last);

  // Runs `work(member)` in all of them at the same time.
  void run_all(const std::function<void(unsigned)>& work);

 private:
  struct Member {
    std::thread thread;
    std::mutex mutex;
    std::condition_variable changed;
    Work work;  // empty: nothing to do
    Work last;
    bool leaving = false;
  };

  static void live(Member& member, pthread_key_t key);
  static void say_last_words(void* member);
  void begin(Member& member, const Work& work);
  static void wait(Member& member);

  pthread_key_t key_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace halo::fuzz
