#include "corun/stream_recorder.h"

#include <bit>
#include <span>
#include <sstream>
#include <stdexcept>

#include "base/crc32.h"
#include "objects/trace_reader.h"

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
                               StreamWriter& writer)
    : settings_(settings),
      reuse_(reuse),
      writer_(writer),
      watched_(settings.watch),
      last_level_(settings.machine.caches.back().shape),
      waits_(settings.machine),
      region_bits_(int(kRegionShift) - std::countr_zero(settings.machine.line)),
      owners_(1) {}

void StreamRecorder::allocated(const objects::Allocation& one) {
  if (one.number >= contexts_.size()) contexts_.resize(one.number + 1);
  contexts_[one.number] = base::index(one.context);
  watched_.allocate(one, now());
}

uint32_t StreamRecorder::owner_of(uint64_t object) {
  if (object == 0) return 0;
  const std::tuple key = {contexts_[object], uint8_t(reuse_.pollutes(contexts_[object])),
                          uint8_t(watched_.predicted(object)), uint8_t(watched_.mapping(object))};
  const auto [found, is_new] = numbers_.try_emplace(key, uint32_t(owners_.size()));
  if (!is_new) return found->second;
  if (owners_.size() > kMaxOwner)
    throw std::runtime_error("it has more allocation contexts than a stream can have");
  const auto [context, exact, predicted, online] = key;
  owners_.push_back({context, 1, exact, predicted, online, 0});
  return found->second;
}

void StreamRecorder::requested(const Request& request) {
  if (request.line.name > kMaxLine)
    throw std::runtime_error("it touches more memory than a stream can describe");
  const uint32_t region = request.line.name >> region_bits_;
  if (region >= regions_.size()) regions_.resize(region + 1);
  regions_[region] = request.line.number >> region_bits_;
  writer_.add(request.kind, request.line.name, owner_of(request.object), replay_->cycles());
  const bool had = last_level_.serve(request.kind, request.line);
  if (request.kind == RequestKind::kWriteBack) return;
  ++counters_.accesses;
  counters_.misses += !had;
  waits_.add(request.kind, had);
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
  return {head.accesses,    cycles(),           counters_.accesses,
          counters_.misses, head.complete != 0, watched_.monitor().counts()};
}

StreamSummary record_stream(const std::string& trace, const StreamSettings& settings,
                            const std::string& path) {
  ReuseClasses reuse(settings.watch.restrict_lines, settings.watch.open_lines,
                     settings.watch.polluter_rate);
  {
    ProgramReplay replay(settings.machine, settings.limit, reuse);
    objects::TraceReader(trace).read(replay);
  }
  StreamWriter writer(path);
  StreamRecorder recorder(settings, reuse, writer);
  ProgramReplay replay(settings.machine, settings.limit, recorder);
  recorder.follow(replay);
  objects::TraceReader reader(trace);
  reader.read(replay);
  return recorder.finish(reader.complete() && !replay.is_over());
}

}  // namespace halo::corun
