// Watches sampled pages of sampled objects (NightWatch, section 5.1): a state machine from events
// to actions, without system calls, clocks and locks of its own.
//
// A page is armed, so that the next reference to it is an event. The reference starts a window;
// when the last-level cache has had as many accesses as the restricted part has lines, the page is
// armed again, and the counters are read. At the second reference their differences judge the page:
//
//   fewer accesses than lines of the restricted part   a burst: the page hits under both mappings;
//                                                      a new window starts
//   more misses than lines of the whole cache          a miss: the line is gone in any case
//   otherwise                                          a hit
//
// So a miss may be taken for a hit, and not the reverse. Objects whose pages miss pollute the
// cache.
#pragma once

#include <cstdint>
#include <vector>

#include "studies/pollution/monitor/deadlines.h"
#include "studies/pollution/monitor/number_map.h"
#include "studies/pollution/monitor/parameters.h"
#include "studies/pollution/monitor/predictor.h"
#include "studies/pollution/monitor/sampled_pages.h"

namespace halo::watch {

// What the watch asks for. An armed page reports its next reference, which disarms it.
class Actions {
 public:
  virtual void arm(Page page) = 0;
  virtual void disarm(Page page) = 0;
  // Moves the object at that address to the other mapping.
  virtual void move(uint64_t address, Mapping to) = 0;
  // A pair of references to a page was a miss, or a hit.
  virtual void sample(Page page, bool is_miss) = 0;
  // The object at that address, of that context, was watched for a phase, or until its end.
  virtual void judge(uint64_t address, ContextIndex context, uint64_t hits, uint64_t misses) = 0;
  // Misses between two readings of the counters. Readings may be marks instead, for a clock that
  // knows what lies between them.
  virtual uint64_t misses_between(const Counters& from, const Counters& to) const {
    return to.misses - from.misses;
  }

 protected:
  ~Actions() = default;
};

// The time of an event in microseconds, and the counters then. Neither decreases.
struct Now {
  uint64_t us = 0;
  Counters counters;
};

class Monitor {
 public:
  // `actions` are called during events, and must outlive the monitor.
  Monitor(const Parameters& parameters, uint32_t contexts, Actions* actions);

  // An object was allocated, and its pages are `first` to first + pages - 1. Returns its mapping.
  Mapping allocated(uint64_t address, uint64_t bytes, ContextIndex context, Page first,
                    uint64_t pages, const Now& now);

  // The object at that address was freed. Objects that are not watched are ignored.
  void freed(uint64_t address, const Now& now);

  // References to the object at that address are not reported from now on, but it lives.
  void stop_watching(uint64_t address, const Now& now);

  // An armed page was referenced, and is not armed any more. Others are ignored.
  void referenced(Page page, const Now& now);

  // The next reference to an armed page will not be reported, and the page is not armed any more.
  // If it is the second of a pair, there is no judgement: misses before an unseen reference would
  // count. Otherwise returns false.
  bool lost(Page page, const Now& now);

  // Something may be due.
  void passed(const Now& now);

  // When something is due that no other event causes: a number of accesses, and microseconds.
  uint64_t next_accesses() const { return windows_.first(); }
  uint64_t next_us() const;

  // The type of an object with those hits and misses; without samples it is normal.
  Type type_of(uint64_t hits, uint64_t misses) const;

  const Predictor& predictor() const { return predictor_; }

  struct Counts {
    uint64_t watched = 0;  // objects
    uint64_t skipped = 0;  // objects that were chosen, for which there was no room
    uint64_t hits = 0;     // samples
    uint64_t misses = 0;
    uint64_t bursts = 0;
    uint64_t dropped = 0;  // samples without a judgement
    uint64_t expired = 0;  // phases that ended for lack of references
    uint64_t moves = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  enum class State : uint8_t { kFree, kFirst, kWindow, kSecond, kPause };

  // A sampled page. In kFirst and kSecond it is armed.
  struct Sample {
    State state = State::kFree;
    uint32_t bursts = 0;  // in a row
    Page page = 0;
    uint32_t object = kNone;
    uint32_t next = kNone;  // of the same object, or of the free samples
    Counters from{};
  };

  // A watched object. Its samples are those of the current phase; none between two phases.
  struct Object {
    uint64_t address = 0;
    uint64_t bytes = 0;
    Page first = 0;
    uint64_t pages = 0;
    ContextIndex context = 0;
    Mapping mapping = Mapping::kOpen;
    Mapping predicted = Mapping::kOpen;
    bool learnt = false;         // the context knows its type
    uint32_t disagreements = 0;  // phases in a row that contradict the mapping
    uint32_t samples = kNone;    // the first
    uint32_t sample_count = 0;
    uint32_t next = kNone;    // of the free objects
    uint32_t rounds = 0;      // complete ones of the phase
    uint32_t round_done = 0;  // samples of the round that were judged or dropped
    uint64_t round_hits = 0;
    uint64_t round_misses = 0;
    uint64_t hits = 0;  // of the complete rounds
    uint64_t misses = 0;
  };

  void begin_phase(uint32_t number, const Now& now);
  void end_phase(uint32_t number, const Now& now);
  void time_out(uint32_t number, const Now& now);
  void end_round(uint32_t number, const Now& now);
  bool converged(const Object& object) const;
  void count_waiting(Object& object, bool ends, const Now& now);
  void finish_object(uint32_t number, bool ends, const Now& now);
  void forget(uint32_t number);
  void drop_samples(Object& object);
  void learn(Object& object, Type type);

  void open_window(uint32_t number, const Now& now);
  void arm(uint32_t number, State state);
  void judge(uint32_t number, const Now& now);
  void finish(uint32_t number, const Now& now);

  Parameters parameters_;
  Predictor predictor_;
  Actions* actions_;
  base::Random random_;
  std::vector<Object> objects_;
  std::vector<Sample> samples_;
  uint32_t free_object_ = kNone;
  uint32_t free_sample_ = kNone;
  uint32_t free_samples_ = 0;
  NumberMap by_address_;  // objects
  NumberMap by_page_;     // samples
  Deadlines windows_;     // of samples, in accesses
  Deadlines pauses_;      // of samples, in microseconds
  Deadlines phases_;      // of objects, in microseconds: when a phase begins, or times out
  Counts counts_;
};

}  // namespace halo::watch
