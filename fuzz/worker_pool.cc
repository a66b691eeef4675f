// Passes work by one mutex and a condition variable per member.
#include "fuzz/worker_pool.h"

#include "fuzz/finding.h"

namespace halo::fuzz {

WorkerPool::WorkerPool(unsigned members) {
  require(pthread_key_create(&key_, run_at_thread_end) == 0,
          "no key for the threads of the fuzzer");
  for (unsigned i = 0; i < members; ++i) members_.push_back(std::make_unique<Member>());
}

WorkerPool::~WorkerPool() {
  for (unsigned i = 1; i < size(); ++i) end(i, [] {});
  pthread_key_delete(key_);
}

void WorkerPool::run_at_thread_end(void* member) { static_cast<Member*>(member)->last(); }

void WorkerPool::live(Member& member, pthread_key_t key) {
  pthread_setspecific(key, &member);
  std::unique_lock lock(member.mutex);
  for (;;) {
    member.changed.wait(lock, [&] { return member.work || member.leaving; });
    if (!member.work) return;
    lock.unlock();
    member.work();
    lock.lock();
    member.work = nullptr;
    member.changed.notify_all();
  }
}

void WorkerPool::begin(Member& member, const Work& work) {
  {
    const std::lock_guard lock(member.mutex);
    member.work = work;
  }
  member.changed.notify_all();
  if (!member.thread.joinable()) {
    member.leaving = false;
    member.thread = std::thread([&member, key = key_] { live(member, key); });
  }
}

void WorkerPool::wait(Member& member) {
  std::unique_lock lock(member.mutex);
  member.changed.wait(lock, [&] { return !member.work; });
}

void WorkerPool::run(unsigned member, const Work& work) {
  if (member == 0) return work();
  begin(*members_[member], work);
  wait(*members_[member]);
}

void WorkerPool::end(unsigned member, const Work& last) {
  Member& leaver = *members_[member];
  if (!leaver.thread.joinable()) return;
  {
    const std::lock_guard lock(leaver.mutex);
    leaver.last = last;
    leaver.leaving = true;
  }
  leaver.changed.notify_all();
  leaver.thread.join();
}

void WorkerPool::run_all(const std::function<void(unsigned)>& work) {
  for (unsigned i = 1; i < size(); ++i) begin(*members_[i], [&work, i] { work(i); });
  work(0);
  for (unsigned i = 1; i < size(); ++i) wait(*members_[i]);
}

}  // namespace halo::fuzz
