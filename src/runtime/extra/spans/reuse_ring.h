// Confines objects by reuse: they live in a small part of memory, so of the cache, whose newest
// freed run is used first (in place of NightWatch's restrictive mapping, section 4, which needs a
// changed kernel).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// The runs of a region, in system pages, ordered by address. Empty runs have no memory: they must
// be filled before they are used. Not safe for threads.
class ReuseRing {
 public:
  static constexpr size_t kMaxRuns = 512;
  static constexpr size_t kNowhere = SIZE_MAX;
  enum class Kind : uint8_t { kFree, kUsed, kEmpty };

  // All pages are of that kind: free or empty.
  void reset(size_t pages, Kind kind = Kind::kFree) {
    count_ = 1;
    runs_[0] = {0, static_cast<uint32_t>(pages), 0, kind};
    clock_ = 0;
  }

  // The first page of the most recently freed run that has `pages` pages; `kNowhere` if none has.
  size_t allocate(size_t pages) {
    size_t best = kNowhere;
    for (size_t at = 0; at < count_; ++at)
      if (runs_[at].kind == Kind::kFree && runs_[at].pages >= pages &&
          (best == kNowhere || runs_[at].freed > runs_[best].freed))
        best = at;
    return best == kNowhere ? kNowhere : use(best, pages);
  }

  // The first page of the first empty run that has `pages` pages, which are used from now on;
  // `kNowhere` if none has. `free` or `drain` must follow.
  size_t take_empty(size_t pages) {
    for (size_t at = 0; at < count_; ++at)
      if (runs_[at].kind == Kind::kEmpty && runs_[at].pages >= pages) return use(at, pages);
    return kNowhere;
  }

  // The pages of the used run at `first`; 0 if there is none.
  size_t pages_at(size_t first) const {
    const size_t at = find(first);
    return at == kNowhere ? 0 : runs_[at].pages;
  }

  // Frees the used run at `first`, and joins it with free neighbours. Returns false if there is
  // none.
  bool free(size_t first) { return release(first, Kind::kFree); }
  // Likewise; it has no memory any more.
  bool drain(size_t first) { return release(first, Kind::kEmpty); }

  // The used run at `first` keeps its first `pages` pages, of more; the others are empty. Returns
  // false if there is no such run, or no room in the table.
  bool drain_behind(size_t first, size_t pages) {
    const size_t at = find(first);
    if (at == kNowhere || count_ == kMaxRuns || runs_[at].pages <= pages) return false;
    insert(at + 1, {runs_[at].first + static_cast<uint32_t>(pages),
                    runs_[at].pages - static_cast<uint32_t>(pages), 0, Kind::kEmpty});
    runs_[at].pages = static_cast<uint32_t>(pages);
    if (at + 2 < count_ && runs_[at + 2].kind == Kind::kEmpty) join(at + 1);
    return true;
  }

  size_t free_pages() const {
    size_t pages = 0;
    for (size_t at = 0; at < count_; ++at)
      if (runs_[at].kind == Kind::kFree) pages += runs_[at].pages;
    return pages;
  }

 private:
  struct Run {
    uint32_t first, pages;
    uint64_t freed;  // the time; 0: never
    Kind kind;
  };

  // The first `pages` pages of a run that is not used.
  size_t use(size_t at, size_t pages) {
    if (runs_[at].pages > pages) {
      if (count_ == kMaxRuns) return kNowhere;
      insert(at + 1,
             {runs_[at].first + static_cast<uint32_t>(pages),
              runs_[at].pages - static_cast<uint32_t>(pages), runs_[at].freed, runs_[at].kind});
      runs_[at].pages = static_cast<uint32_t>(pages);
    }
    runs_[at].kind = Kind::kUsed;
    return runs_[at].first;
  }

  bool release(size_t first, Kind to) {
    const size_t at = find(first);
    if (at == kNowhere) return false;
    runs_[at].kind = to;
    runs_[at].freed = ++clock_;
    if (at + 1 < count_ && runs_[at + 1].kind == to) join(at);
    if (at > 0 && runs_[at - 1].kind == to) join(at - 1);
    return true;
  }

  size_t find(size_t first) const {
    for (size_t at = 0; at < count_; ++at)
      if (runs_[at].first == first && runs_[at].kind == Kind::kUsed) return at;
    return kNowhere;
  }

  void insert(size_t at, Run run) {
    for (size_t to = count_++; to > at; --to) runs_[to] = runs_[to - 1];
    runs_[at] = run;
  }

  // With the run behind it.
  void join(size_t at) {
    runs_[at].pages += runs_[at + 1].pages;
    if (runs_[at + 1].freed > runs_[at].freed) runs_[at].freed = runs_[at + 1].freed;
    for (size_t to = at + 1; to + 1 < count_; ++to) runs_[to] = runs_[to + 1];
    --count_;
  }

  std::array<Run, kMaxRuns> runs_{};
  size_t count_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace halo::runtime
