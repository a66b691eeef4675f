#include "studies/pollution/corun/stream_recorder.h"

#include <bit>
#include <span>
#include <sstream>
#include <stdexcept>

#include "base/crc32.h"
#include "recorder/objects/trace_reader.h"
#include "studies/pollution/corun/learner.h"

namespace halo::corun {

uint32_t check_of_private(const simulator::Machine& machine) {
  std::ostringstream text;
  const simulator::Machine own = private_levels(machine);
  text << own.line << ' ' << own.page << ' ' << own.walk_cycles << own.next_line << own.streams;
  for (const auto* levels : {&own.caches, &own.tlbs})
    for (const simulator::LevelSettings& level : *levels)
      text << ' ' << level.shape.sets << ' ' << level.shape.ways << ' ' << level.cycles;
  const std::string all = text.str();
  return base::crc32(std::as_bytes(std::span(all)));
}

StreamRecorder::StreamRecorder(const StreamSettings& settings, const ReuseClasses& reuse,
                               WatchedClasses& learnt, const watch::Now& before,
                               StreamWriter& writer)
    : settings_(settings),
      reuse_(reuse),
      writer_(writer),
      online_(settings.watch),
      learnt_(learnt),
      before_(before),
      alone_(settings.machine, settings.megahertz),
      region_bits_(int(kRegionShift) - std::countr_zero(settings.machine.line)),
      owners_(1) {}

void StreamRecorder::allocated(const objects::Allocation& one) {
  if (one.number >= contexts_.size()) contexts_.resize(one.number + 1);
  contexts_[one.number] = base::index(one.context);
  online_.allocate(one, now());
  learnt_.allocate(one, after(before_, now()));
}

uint32_t StreamRecorder::owner_of(uint64_t object) {
  if (object == 0) return 0;
  OwnerEntry entry{};
  entry.context = contexts_[object];
  entry.is_object = 1;
  entry.exact = reuse_.pollutes(entry.context);
  entry.predicted = uint8_t(online_.predicted(object));
  entry.online = uint8_t(online_.mapping(object));
  entry.learnt = uint8_t(learnt_.mapping(object));
  const uint32_t classes = entry.exact | uint32_t{entry.predicted} << 1 |
                           uint32_t{entry.online} << 2 | uint32_t{entry.learnt} << 3;
  const auto [found, is_new] =
      numbers_.try_emplace({entry.context, classes}, uint32_t(owners_.size()));
  if (!is_new) return found->second;
  if (owners_.size() > kMaxOwner)
    throw std::runtime_error("it has more allocation contexts than a stream can have");
  owners_.push_back(entry);
  return found->second;
}

void StreamRecorder::requested(const Request& request) {
  if (request.line.name > kMaxLine)
    throw std::runtime_error("it touches more memory than a stream can describe");
  const uint32_t region = request.line.name >> region_bits_;
  if (region >= regions_.size()) regions_.resize(region + 1);
  regions_[region] = request.line.number >> region_bits_;
  writer_.add(request.kind, request.line.name, owner_of(request.object), replay_->cycles());
  alone_.serve(request);
}

StreamSummary StreamRecorder::finish(bool complete) {
  StreamHead head{};
  head.private_levels = check_of_private(settings_.machine);
  head.line_bytes = settings_.machine.line;
  head.page_bytes = settings_.machine.page;
  head.accesses = replay_->accesses();
  head.cycles = replay_->cycles();
  head.complete = complete;
  writer_.finish(head, owners_, regions_);
  const watch::Counters& counters = alone_.counters();
  return {.accesses = head.accesses,
          .cycles = alone_.cycles(head.cycles),
          .requests = counters.accesses,
          .misses = counters.misses,
          .complete = complete,
          .watch = online_.monitor().counts()};
}

StreamSummary record_stream(const std::string& trace, const StreamSettings& settings,
                            const std::string& path) {
  ReuseClasses reuse(settings.watch.restrict_lines, settings.watch.open_lines,
                     settings.watch.polluter_rate);
  WatchedClasses learnt(settings.watch);
  watch::Now end;
  for (ReplayObserver* next :
       {static_cast<ReplayObserver*>(&reuse), static_cast<ReplayObserver*>(nullptr)}) {
    Learner learner(Alone(settings.machine, settings.megahertz), end, learnt, next);
    ProgramReplay replay(settings.machine, settings.limit, learner);
    learner.follow(replay);
    objects::TraceReader(trace).read(replay);
    end = learner.finish();
  }
  StreamWriter writer(path);
  StreamRecorder recorder(settings, reuse, learnt, end, writer);
  ProgramReplay replay(settings.machine, settings.limit, recorder);
  recorder.follow(replay);
  objects::TraceReader reader(trace);
  reader.read(replay);
  return recorder.finish(reader.complete() && !replay.is_over());
}

}  // namespace halo::corun
