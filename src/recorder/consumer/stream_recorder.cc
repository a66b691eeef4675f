// Call stacks become contexts; all other records pass.
#include "recorder/consumer/stream_recorder.h"

namespace halo::consumer {

namespace {

using channel::StreamKind;
using events::Kind;
using events::Record;

// The preloaded library, and what only that needs.
bool is_native(const MapsLine& line) {
  return line.path.ends_with("/libhalo-native-guest.so") ||
         line.path.find("/libZydis.so.") != std::string_view::npos ||
         line.path.find("/libZycore.so.") != std::string_view::npos;
}

// Enough to look objects up ahead of their use, and few enough to stay in a cache.
constexpr size_t kManyRecords = 4096;

constexpr AddressRange kEverywhere{0, uint64_t{1} << 48};

}  // namespace

StreamRecorder::StreamRecorder(const record::Options& options)
    : part_(options, "native", is_native) {}

StreamRecorder::Thread& StreamRecorder::thread_of(base::ThreadId thread) {
  while (threads_.size() <= base::index(thread)) threads_.emplace_back(part_.contexts());
  return threads_[base::index(thread)];
}

bool StreamRecorder::consume(base::ThreadId id, std::span<const Record> records) {
  Thread& thread = thread_of(id);
  bool forks = false;
  for (const Record& record : records) {
    switch (record.kind()) {
      case Kind::kEpoch:
        break;
      case Kind::kOfStream:
        forks |= take(thread, record);
        break;
      case Kind::kAlloc:
        converted_.push_back(
            Record::make(Kind::kAlloc, record.address(), record.word1 & channel::kMaxAllocation));
        converted_.push_back(
            Record::make(Kind::kContext, 0, base::index(context_of(thread, record))));
        break;
      default:
        converted_.push_back(record);
    }
  }
  runs_.push_back({id, converted_.size()});
  if (converted_.size() >= kManyRecords) analyse();
  return forks;
}

void StreamRecorder::analyse() {
  size_t begin = 0;
  for (const Run& run : runs_) {
    part_.analysis().consume(run.thread, converted_, begin, run.end);
    begin = run.end;
  }
  converted_.clear();
  runs_.clear();
}

base::NodeId StreamRecorder::context_of(Thread& thread, const Record& alloc) {
  const uint64_t place = alloc.word1 >> channel::kPlaceShift;
  if (place >= thread.contexts.size()) thread.contexts.resize(place + 1);
  base::NodeId& context = thread.contexts[place];
  if (thread.is_sent) context = thread.resolver.resolve(thread.frames, 0);
  thread.is_sent = false;
  return context;
}

bool StreamRecorder::take(Thread& thread, const Record& record) {
  switch (StreamKind(record.stream_kind())) {
    case StreamKind::kFrame:
      thread.frames.push_back({record.address(), record.word1});
      break;
    case StreamKind::kStack:
      thread.is_sent = true;
      if (record.address() < thread.frames.size()) thread.frames.resize(record.address());
      break;
    case StreamKind::kNeedsCode:
      part_.contexts().find_code(record.address());
      break;
    case StreamKind::kCodeUnmapped:
      part_.contexts().drop_code(kEverywhere);
      break;
    case StreamKind::kMakesCode:
      part_.contexts().code_generated();
      break;
    case StreamKind::kFork:
      return true;
  }
  return false;
}

void StreamRecorder::end_thread(base::ThreadId thread) {
  analyse();
  const Record end = Record::make(Kind::kThreadEnd, 0, 0);
  part_.analysis().consume(thread, {&end, 1});
  thread_of(thread).frames.clear();
}

void StreamRecorder::continue_as_child() {
  for (size_t at = 0; at < threads_.size(); ++at) end_thread(base::ThreadId{uint32_t(at)});
  part_.continue_as_child();
}

}  // namespace halo::consumer
