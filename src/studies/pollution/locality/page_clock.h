// A clock for the watch on processors without counters: it counts in lines, from traps of a sample
// of all pages (SHARDS; Waldspurger et al., FAST 2015).
//
// The sample is one page of `rate`, chosen by a hash. Its pages are kept armed: a reference traps,
// and the page is armed again when the clock has advanced by `rearm_lines`. A visit of a page is
// from a trap until then.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace halo::locality {

struct PageClockSettings {
  uint32_t rate = 8;             // at least 1
  uint64_t rearm_lines = 16384;  // of the last-level cache's restricted part
};

// Sums over the traps since a moment, of those that are the last one of their page (Fenwick,
// Software: Practice and Experience, 1994).
class LastTraps {
 public:
  struct Sum {
    uint32_t pages = 0;
    uint32_t sixteenths = 0;  // of a line

    Sum& operator+=(const Sum& other) {
      pages += other.pages;
      sixteenths += other.sixteenths;
      return *this;
    }
    // Sums of parts wrap around, and their differences do not.
    Sum& operator-=(const Sum& other) {
      pages -= other.pages;
      sixteenths -= other.sixteenths;
      return *this;
    }
  };

  uint64_t count() const { return sums_.size(); }

  // The next trap; `sixteenths` are the lines that its visit touches.
  void add(uint32_t sixteenths) {
    const uint64_t place = sums_.size() + 1;
    Sum sum = {1, sixteenths};
    total_ += sum;
    for (uint64_t at = place - 1; at > place - (place & -place); at -= at & -at)
      sum += sums_[at - 1];
    sums_.push_back(sum);
  }

  // The trap, counted from 0, is not the last one of its page any more.
  void remove(uint64_t trap, uint32_t sixteenths) {
    const Sum sum = {1, sixteenths};
    total_ -= sum;
    for (uint64_t at = trap + 1; at <= sums_.size(); at += at & -at) sums_[at - 1] -= sum;
  }

  Sum since(uint64_t trap) const {
    Sum sum = total_;
    for (uint64_t at = trap; at != 0; at -= at & -at) sum -= sums_[at - 1];
    return sum;
  }

 private:
  std::vector<Sum> sums_;  // of a range of traps that ends at this one
  Sum total_;
};

class PageClock {
 public:
  using Moment = uint64_t;  // traps before it

  static constexpr uint32_t kLinesOfPage = 64;
  // With fewer pages, a distance has a relative error of more than a quarter: it is unknown.
  static constexpr uint32_t kMinPages = 16;

  explicit PageClock(const PageClockSettings& settings) : settings_(settings) {}

  // Pages are numbered from 0; the hash is splitmix64's (base/random.h).
  bool samples(uint32_t page) const {
    uint64_t mixed = (page + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return ((mixed ^ mixed >> 31) >> 32) * settings_.rate >> 32 == 0;
  }

  // A reference to a page of the sample; returns whether it traps. `lines` is how many lines a
  // visit of such a page touches on average, 1 to 64.
  bool reference(uint32_t page, double lines) {
    if (page >= pages_.size()) pages_.resize(page + 1);
    while (!due_.empty() && due_.front().at <= accesses_) {
      pages_[due_.front().page].armed = true;
      due_.pop_front();
    }
    Page& mine = pages_[page];
    if (!mine.armed) return false;
    if (mine.trapped) traps_.remove(mine.trap, mine.sixteenths);
    mine = {.trap = traps_.count(),
            .sixteenths = static_cast<uint32_t>(lines * 16),
            .armed = false,
            .trapped = true};
    traps_.add(mine.sixteenths);
    accesses_ += uint64_t{kLinesOfPage} * settings_.rate;
    due_.push_back({accesses_ + settings_.rearm_lines, page});
    return true;
  }

  // Lines that were accessed so far, at most.
  uint64_t accesses() const { return accesses_; }

  Moment now() const { return traps_.count(); }

  // Different lines that were accessed since that moment, at least: 0 if unknown.
  uint64_t lines_since(Moment moment) const {
    const LastTraps::Sum sum = traps_.since(moment);
    return sum.pages < kMinPages ? 0 : uint64_t{sum.sixteenths} * settings_.rate / 16;
  }

 private:
  struct Page {
    uint64_t trap = 0;  // its last one
    uint32_t sixteenths = 0;
    bool armed = true;
    bool trapped = false;
  };
  struct Due {
    uint64_t at;  // accesses
    uint32_t page;
  };

  PageClockSettings settings_;
  std::vector<Page> pages_;
  std::deque<Due> due_;
  LastTraps traps_;
  uint64_t accesses_ = 0;
};

}  // namespace halo::locality
