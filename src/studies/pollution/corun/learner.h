// A run of a program that teaches a watch, and nothing else.
#pragma once

#include <utility>

#include "studies/pollution/corun/alone.h"
#include "studies/pollution/corun/program_replay.h"
#include "studies/pollution/corun/watched_classes.h"

namespace halo::corun {

class Learner final : public ReplayObserver {
 public:
  // `before`: the end of the run before. `watched`, and `next`, which sees the same replay unless
  // it is null, must outlive the learner.
  Learner(Alone alone, const watch::Now& before, WatchedClasses& watched, ReplayObserver* next)
      : alone_(std::move(alone)), before_(before), watched_(watched), next_(next) {}

  void follow(const ProgramReplay& replay) { replay_ = &replay; }
  void allocated(const objects::Allocation& one) override {
    watched_.allocate(one, now());
    if (next_ != nullptr) next_->allocated(one);
  }
  void freed(uint64_t object) override { watched_.free(object, now()); }
  void accessed(uint64_t object, uint32_t offset) override {
    watched_.access(object, offset, now());
  }
  void requested(const Request& request) override {
    alone_.serve(request);
    if (next_ != nullptr) next_->requested(request);
  }
  void passed() override { watched_.pass(now()); }

  // The program ends. Returns the time and the counters then.
  watch::Now finish() {
    watched_.end_run(now());
    return now();
  }

 private:
  watch::Now now() const { return after(before_, alone_.now(replay_->cycles())); }

  Alone alone_;
  watch::Now before_;
  WatchedClasses& watched_;
  ReplayObserver* next_;
  const ProgramReplay* replay_ = nullptr;
};

}  // namespace halo::corun
