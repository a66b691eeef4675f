// Translates words to calls of the producers.
#include "recorder/consumer/process_recorder.h"

#include <algorithm>

#include "recorder/contexts/code/live_code.h"

namespace halo::consumer {

namespace {

using channel::Word;
using channel::WordKind;

constexpr uint32_t kWidestLog2 = 3;  // accesses are sent in pieces of at most 8 bytes

// Modules that Valgrind itself loads into the process.
bool is_valgrind(const MapsLine& line) {
  return line.path.find("/vgpreload_core-") != std::string_view::npos ||
         line.path.ends_with("/halo-amd64-linux");
}

}  // namespace

ProcessRecorder::ProcessRecorder(const record::Options& options)
    : part_(options, "valgrind", is_valgrind) {
  shared_.max_object_size = options.parameters.max_object_size;
  shared_.merge_repeats = options.merge_repeats;
  shared_.all_accesses = options.parameters.need_all_accesses();
  shared_.on_ring_full = [this] { drain(); };
}

void ProcessRecorder::switch_to(uint32_t thread) {
  drain();
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  std::unique_ptr<record::Producer>& found = threads_[thread];
  if (found == nullptr) {
    found = std::make_unique<record::Producer>(
        base::ThreadId{thread}, shared_, part_.contexts(),
        [this](uint64_t slot) { return record::find_mapping(part_.process(), slot); });
  }
  current_ = found.get();
}

void ProcessRecorder::drain() {
  if (current_ == nullptr) return;
  events::MergeSource& source = current_->source();
  source.end = source.ring->published();
  events::drain_single(source, [this](base::ThreadId id, std::span<const events::Record> records) {
    part_.analysis().consume(id, records);
  });
}

bool ProcessRecorder::consume(std::span<const uint64_t> words) {
  bool forks = false;
  for (size_t at = 0; at < words.size();) {
    const Word word(words[at]);
    if (word.kind() == WordKind::kAccess) [[likely]] {
      access(word);
      ++at;
      continue;
    }
    at += take(words.subspan(at));
    forks = word.kind() == WordKind::kFork;
  }
  return forks;
}

void ProcessRecorder::access(Word word) {
  uint64_t address = word.payload();
  const uint32_t piece = std::min(word.size_log2(), kWidestLog2);
  for (uint32_t pieces = 1u << (word.size_log2() - piece); pieces-- > 0; address += 1u << piece)
    current_->access(address, piece, word.store(), word.alignment_class(), code_);
}

// Returns the length of the message in words.
size_t ProcessRecorder::take(std::span<const uint64_t> words) {
  const Word word(words[0]);
  switch (word.kind()) {
    case WordKind::kAccess:
      return 1;
    case WordKind::kCode:
      code_ = word.payload();
      return 1;
    case WordKind::kCall:
      current_->stack().call(word.payload(), words[1]);
      return 2;
    case WordKind::kReturn:
      current_->stack().ret(word.payload());
      return 1;
    case WordKind::kStackMoved:
      current_->stack().stack_pointer_loaded();
      return 1;
    case WordKind::kThread:
      switch_to(uint32_t(word.payload()));
      return 1;
    case WordKind::kThreadEnd:
      current_->end();
      drain();
      current_->reuse();
      return 1;
    case WordKind::kAlloc:
      current_->alloc(word.payload(), words[1], words[2]);
      return 3;
    case WordKind::kFree:
      current_->free(word.payload());
      return 1;
    case WordKind::kRevive:
      current_->revive(word.payload());
      return 1;
    case WordKind::kAligned:
      current_->aligned(word.payload());
      return 1;
    case WordKind::kReallocated:
      current_->reallocated(word.payload());
      return 1;
    case WordKind::kHugePages:
      current_->huge_pages(word.payload(), words[1]);
      return 2;
    case WordKind::kMapsChanged:
      part_.contexts().mappings_changed();
      return 1;
    case WordKind::kMakesCode:
      part_.contexts().code_generated();
      return 1;
    case WordKind::kCodeUnmapped:
      part_.contexts().drop_code({word.payload(), word.payload() + words[1]});
      return 2;
    case WordKind::kReadMaps:
      part_.contexts().read_mappings();
      return 1;
    case WordKind::kDropEvents:
      current_->flush();
      drain();
      part_.restart_counts();
      return 1;
    case WordKind::kBurst:
      current_->burst(word.payload());
      return 1;
    case WordKind::kGap:
    case WordKind::kFork:
    case WordKind::kEnd:
      return 1;
  }
  return 1;
}

void ProcessRecorder::continue_as_child() {
  if (current_ != nullptr) current_->flush();
  drain();
  for (const std::unique_ptr<record::Producer>& producer : threads_) {
    if (producer == nullptr || producer.get() == current_) continue;
    const events::Record end = events::Record::make(events::Kind::kThreadEnd, 0, 0);
    part_.analysis().consume(producer->id(), {&end, 1});
    producer->reuse();
  }
  part_.continue_as_child();
}

bool ProcessRecorder::finish() {
  for (const std::unique_ptr<record::Producer>& producer : threads_) {
    if (producer == nullptr) continue;
    current_ = producer.get();
    current_->flush();
    drain();
  }
  return part_.finish();
}

}  // namespace halo::consumer
