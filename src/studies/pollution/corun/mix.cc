#include "studies/pollution/corun/mix.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "studies/pollution/corun/last_level.h"
#include "studies/pollution/corun/program_replay.h"

namespace halo::corun {

namespace {

// A program on its way through its stream.
class Running {
 public:
  Running(const Stream& stream, const std::vector<bool>& confined,
          const simulator::Machine& machine, const Colours& colours, uint64_t seed,
          uint32_t& serial)
      : stream_(stream),
        confined_(confined.begin(), confined.end()),
        line_bits_(std::countr_zero(stream.head.page_bytes / stream.head.line_bytes)),
        region_bits_(int(kRegionShift) - std::countr_zero(stream.head.page_bytes)),
        frames_(colours, stream.regions.size() << region_bits_, seed, serial),
        waits_(machine) {
    skip_passes();
  }

  // The cycle of the next request; that of the end if there is none.
  uint64_t next_cycle() const { return next_; }

  // Serves the next request, or ends the program. Returns whether it has ended for the first time.
  bool step(LastLevel& level) {
    if (at_ == stream_.requests.size()) return end();
    const RequestWord word(stream_.requests[at_++]);
    const RequestKind kind = word.kind();
    const bool had = level.serve(kind, physical(word));
    count(kind, !had);
    waits_.add(kind, had);
    own_ = own_next_;
    skip_passes();
    return false;
  }

  const ProgramResult& result() const { return result_; }

 private:
  simulator::Block physical(RequestWord word) {
    const uint32_t page = word.line() >> line_bits_;
    const uint64_t address =
        stream_.regions[page >> region_bits_] << region_bits_ | (page & ((1u << region_bits_) - 1));
    const uint32_t frame = frames_.frame_of(page, address, confined_[word.owner()]);
    const uint64_t line = uint64_t{frame} << line_bits_ | (word.line() & ((1u << line_bits_) - 1));
    return {line, uint32_t(line % (simulator::kEndOfNames - 1)) + 1};
  }

  void count(RequestKind kind, bool missed) {
    if (result_.runs != 0 || kind == RequestKind::kWriteBack) return;
    ++result_.accesses;
    result_.misses += missed;
    result_.fetches += kind != RequestKind::kAhead;
    if (kind == RequestKind::kDemand) {
      ++result_.demands;
      access_missed_ = false;
    } else if (kind != RequestKind::kJoined) {
      return;
    }
    result_.missed_demands += missed && !access_missed_;
    access_missed_ |= missed;
  }

  // Finds the next request and its cycle.
  void skip_passes() {
    own_next_ = own_;
    for (; at_ < stream_.requests.size(); ++at_) {
      const RequestWord word(stream_.requests[at_]);
      own_next_ += word.cycles();
      if (word.kind() != RequestKind::kPass) break;
    }
    if (at_ == stream_.requests.size()) own_next_ = stream_.head.cycles;
    next_ = begin_ + own_next_ + waits_.cycles();
  }

  bool end() {
    if (result_.runs++ == 0) result_.cycles = next_;
    begin_ = next_;
    at_ = 0;
    own_ = 0;
    waits_.restart();
    frames_.renew();
    skip_passes();
    return result_.runs == 1;
  }

  const Stream& stream_;
  std::vector<uint8_t> confined_;  // by owner
  int line_bits_, region_bits_;
  Frames frames_;
  Waits waits_;            // of this run
  size_t at_ = 0;          // the next request
  uint64_t begin_ = 0;     // cycle
  uint64_t own_ = 0;       // cycles of this run up to the latest request, without the
  uint64_t own_next_ = 0;  // last level's, and up to the next one
  uint64_t next_ = 0;
  bool access_missed_ = false;  // the latest access so far
  ProgramResult result_;
};

}  // namespace

Colours colours_of(const simulator::Machine& machine) {
  (void)private_levels(machine);
  const uint64_t bytes = uint64_t{machine.caches.back().shape.sets} * machine.line;
  const uint64_t count = bytes / machine.page;
  if (bytes % machine.page != 0 || !std::has_single_bit(count))
    throw std::invalid_argument("the last level has " + std::to_string(count) +
                                " colours, which is not a power of two; choose another machine");
  const auto colours = uint32_t(count);
  return {colours, 0, std::max(colours / 8, 1u)};
}

std::vector<ProgramResult> run_mix(const simulator::Machine& machine, const Colours& colours,
                                   const std::vector<const Stream*>& programs,
                                   const std::vector<std::vector<bool>>& confined, uint64_t seed) {
  LastLevel level(machine.caches.back().shape);
  uint32_t serial = 0;  // of frames
  std::vector<Running> running;
  running.reserve(programs.size());
  for (size_t at = 0; at < programs.size(); ++at)
    running.emplace_back(*programs[at], confined[at], machine, colours, seed * 64 + at, serial);
  for (size_t left = programs.size(); left > 0;) {
    Running* first = &running.front();
    for (Running& one : running)
      if (one.next_cycle() < first->next_cycle()) first = &one;
    left -= first->step(level);
  }
  std::vector<ProgramResult> results;
  for (const Running& one : running) results.push_back(one.result());
  return results;
}

}  // namespace halo::corun
