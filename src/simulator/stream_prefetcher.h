// Detects sequential accesses to the lines of a page.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "simulator/cache.h"
#include "simulator/use_order.h"
#include "simulator/ways.h"

namespace halo::simulator {

// Tracks the most recently accessed pages. After two steps in one direction it prefetches the lines
// ahead, up to a fixed distance and never across the page's end.
class StreamPrefetcher {
 public:
  static constexpr uint32_t kStreams = 32;
  static constexpr int kAhead = 8;     // lines
  static constexpr int kMinSteps = 2;  // steps in one direction

  explicit StreamPrefetcher(uint64_t lines_of_page) : lines_of_page_(lines_of_page) {}

  // Calls ahead(block) for each line to prefetch after an access to this one.
  template <class Ahead>
  void on_access(Block line, const Ahead& ahead) {
    const int at = int(line.number & (lines_of_page_ - 1));
    const Entry page = line.name >> page_shift_ << 1;
    if (pages_[newest_] != page) {
      newest_ = ways_.find(pages_.data(), kStreams, page);
      if (newest_ == kStreams) return begin(page, at);
    }
    order_.use(newest_);
    Stream& stream = streams_[newest_];
    const int moved = at - stream.at;
    if (moved == 0) return;
    const bool same = (moved > 0) == (stream.steps > 0);
    stream.steps = moved > 0 ? (same ? stream.steps + 1 : 1) : (same ? stream.steps - 1 : -1);
    if (!same) stream.reached = at;
    stream.at = at;
    if (stream.steps >= kMinSteps) {
      const int to = std::min(at + kAhead, int(lines_of_page_) - 1);
      for (int next = std::max(stream.reached, at) + 1; next <= to; ++next)
        ahead(line.behind(next - at));
      stream.reached = std::max(stream.reached, to);
    } else if (stream.steps <= -kMinSteps) {
      const int to = std::max(at - kAhead, 0);
      for (int next = std::min(stream.reached, at) - 1; next >= to; --next)
        ahead(line.behind(next - at));
      stream.reached = std::min(stream.reached, to);
    }
  }

 private:
  struct Stream {
    int at = 0;       // the line accessed last, within the page
    int reached = 0;  // last prefetched line
    int steps = 0;    // in one direction so far; negative: downwards
  };

  // Replaces the least recently used stream.
  void begin(Entry page, int at) {
    newest_ = order_.oldest();
    order_.use(newest_);
    pages_[newest_] = page;
    streams_[newest_] = {.at = at, .reached = at, .steps = 0};
  }

  uint64_t lines_of_page_;  // a power of two
  int page_shift_ = std::countr_zero(lines_of_page_);
  WayOperations ways_ = ways_here();
  alignas(kLanes * sizeof(Entry)) std::array<Entry, kStreams> pages_{};  // by stream
  std::array<Stream, kStreams> streams_{};
  uint32_t newest_ = 0;
  UseOrder<kStreams> order_;
};

}  // namespace halo::simulator
