// Hand-over of work by one mutex and one condition a member.
#include "fuzz/crew.h"

#include "fuzz/finding.h"

namespace halo::fuzz {

Crew::Crew(unsigned members) {
  require(pthread_key_create(&key_, say_last_words) == 0, "no key for the threads of the fuzzer");
  for (unsigned i = 0; i < members; ++i) members_.push_back(std::make_unique<Member>());
}

Crew::~Crew() {
  for (unsigned i = 1; i < size(); ++i) end(i, [] {});
  pthread_key_delete(key_);
}

void Crew::say_last_words(void* member) { static_cast<Member*>(member)->last(); }

void Crew::live(Member& member, pthread_key_t key) {
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

void Crew::begin(Member& member, const Work& work) {
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

void Crew::wait(Member& member) {
  std::unique_lock lock(member.mutex);
  member.changed.wait(lock, [&] { return !member.work; });
}

void Crew::run(unsigned member, const Work& work) {
  if (member == 0) return work();
  begin(*members_[member], work);
  wait(*members_[member]);
}

void Crew::end(unsigned member, const Work& last) {
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

void Crew::run_all(const std::function<void(unsigned)>& work) {
  for (unsigned i = 1; i < size(); ++i) begin(*members_[i], [&work, i] { work(i); });
  work(0);
  for (unsigned i = 1; i < size(); ++i) wait(*members_[i]);
}

}  // namespace halo::fuzz
