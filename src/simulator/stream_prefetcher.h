// Detects lines of a page that are asked for one behind the other.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "simulator/use_order.h"
#include "simulator/ways.h"

namespace halo::simulator {

// Follows the pages asked for last. After two steps in one direction it names the lines ahead, up
// to a distance that it keeps, never across the page's border.
class StreamPrefetcher {
 public:
  static constexpr uint32_t kStreams = 32;
  static constexpr int64_t kAhead = 8;  // lines
  static constexpr int kEnough = 2;     // steps in one direction

  explicit StreamPrefetcher(uint64_t lines_of_page) : lines_of_page_(lines_of_page) {}

  // Calls ahead(line) for each line to be prefetched because this one was asked for.
  template <class Ahead>
  void ask(uint64_t line, const Ahead& ahead) {
    const uint64_t page = line >> page_shift_;
    const auto at = int64_t(line & (lines_of_page_ - 1));
    const uint64_t key = page << 1 | 1;
    if (keys_[newest_] != key) {
      newest_ = find_(keys_.data(), kStreams, key);
      if (newest_ == kStreams) return begin(key, at);
    }
    order_.use(newest_);
    Stream& stream = streams_[newest_];
    const int64_t moved = at - stream.at;
    if (moved == 0) return;
    const bool same = (moved > 0) == (stream.steps > 0);
    stream.steps = moved > 0 ? (same ? stream.steps + 1 : 1) : (same ? stream.steps - 1 : -1);
    if (!same) stream.reached = at;
    stream.at = at;
    if (stream.steps >= kEnough) {
      const int64_t to = std::min(at + kAhead, int64_t(lines_of_page_) - 1);
      for (int64_t next = std::max(stream.reached, at) + 1; next <= to; ++next)
        ahead(page << page_shift_ | uint64_t(next));
      stream.reached = std::max(stream.reached, to);
    } else if (stream.steps <= -kEnough) {
      const int64_t to = std::max<int64_t>(at - kAhead, 0);
      for (int64_t next = std::min(stream.reached, at) - 1; next >= to; --next)
        ahead(page << page_shift_ | uint64_t(next));
      stream.reached = std::min(stream.reached, to);
    }
  }

 private:
  struct Stream {
    int64_t at = 0;       // the line asked for last, within the page
    int64_t reached = 0;  // how far was prefetched
    int steps = 0;        // in one direction so far; negative: downwards
  };

  // In the place of the stream that was not used for longest.
  void begin(uint64_t key, int64_t at) {
    newest_ = order_.oldest();
    order_.use(newest_);
    keys_[newest_] = key;
    streams_[newest_] = {.at = at, .reached = at, .steps = 0};
  }

  uint64_t lines_of_page_;  // a power of two
  int page_shift_ = std::countr_zero(lines_of_page_);
  FindWay find_ = find_way_here();
  // By stream. A key is the page's number and an odd bit; 0: none.
  std::array<uint64_t, kStreams> keys_{};
  std::array<Stream, kStreams> streams_{};
  uint32_t newest_ = 0;
  UseOrder<kStreams> order_;
};

}  // namespace halo::simulator
