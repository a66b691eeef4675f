// Detects lines of a page that are asked for one behind the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace halo::simulator {

// Follows the pages asked for last. After two steps in one direction it names the lines ahead, up
// to a distance that it keeps, never across the page's border.
class StreamPrefetcher {
 public:
  static constexpr size_t kStreams = 32;
  static constexpr int64_t kAhead = 8;  // lines
  static constexpr int kEnough = 2;     // steps in one direction

  explicit StreamPrefetcher(uint64_t lines_of_page) : lines_of_page_(lines_of_page) {}

  // Calls ahead(line) for each line to be prefetched because this one was asked for.
  template <class Ahead>
  void ask(uint64_t line, const Ahead& ahead) {
    const uint64_t page = line / lines_of_page_;
    Stream& stream = stream_of(page);
    const auto at = int64_t(line % lines_of_page_);
    if (stream.page != page) {
      stream = {.page = page, .used = ++clock_, .at = at, .reached = at, .steps = 0};
      return;
    }
    stream.used = ++clock_;
    const int64_t moved = at - stream.at;
    if (moved == 0) return;
    const bool same = (moved > 0) == (stream.steps > 0);
    stream.steps = moved > 0 ? (same ? stream.steps + 1 : 1) : (same ? stream.steps - 1 : -1);
    if (!same) stream.reached = at;
    stream.at = at;
    if (stream.steps >= kEnough) {
      const int64_t to = std::min(at + kAhead, int64_t(lines_of_page_) - 1);
      for (int64_t next = std::max(stream.reached, at) + 1; next <= to; ++next)
        ahead(page * lines_of_page_ + uint64_t(next));
      stream.reached = std::max(stream.reached, to);
    } else if (stream.steps <= -kEnough) {
      const int64_t to = std::max<int64_t>(at - kAhead, 0);
      for (int64_t next = std::min(stream.reached, at) - 1; next >= to; --next)
        ahead(page * lines_of_page_ + uint64_t(next));
      stream.reached = std::min(stream.reached, to);
    }
  }

 private:
  struct Stream {
    uint64_t page = UINT64_MAX;
    uint64_t used = 0;
    int64_t at = 0;       // the line asked for last, within the page
    int64_t reached = 0;  // how far was prefetched
    int steps = 0;        // in one direction so far; negative: downwards
  };

  // The page's stream, or the one that was not used for longest.
  Stream& stream_of(uint64_t page) {
    Stream* oldest = &streams_[0];
    for (Stream& stream : streams_) {
      if (stream.page == page) return stream;
      if (stream.used < oldest->used) oldest = &stream;
    }
    return *oldest;
  }

  uint64_t lines_of_page_;
  uint64_t clock_ = 0;
  std::array<Stream, kStreams> streams_{};
};

}  // namespace halo::simulator
