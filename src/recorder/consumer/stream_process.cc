// Reads rounds of records.
#include "recorder/consumer/stream_process.h"

#include <utility>

namespace halo::consumer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRecycleInterval = std::chrono::milliseconds(50);
constexpr uint64_t kMany = channel::kStreamRecords / 8;  // records of a round

}  // namespace

StreamProcess::StreamProcess(const record::Options& options, std::unique_ptr<StreamReader> reader)
    : reader_(std::move(reader)), recorder_(options) {
  recorder_.part().set_process(process());
}

RecordedProcess::Taken StreamProcess::take() {
  bool forks = false;
  if (recorder_.part().process() != process())  // a forked child connects only now
    recorder_.part().set_process(process());
  const uint64_t records = reader_->read(
      [&](base::ThreadId thread, auto part) { forks |= recorder_.consume(thread, part); });
  recorder_.analyse();
  if (forks) return Taken::kFork;
  if (Clock::now() - recycled_ > kRecycleInterval) {
    recycled_ = Clock::now();
    reader_->recycle([this](base::ThreadId thread) { recorder_.end_thread(thread); });
  }
  if (records < kMany) reader_->wait();
  return records > 0 ? Taken::kEvents : Taken::kNothing;
}

bool StreamProcess::continue_as_child(const Descriptors& child) {
  reader_ = std::make_unique<StreamReader>(child);
  if (!reader_->good()) return false;
  recorder_.continue_as_child();
  return true;
}

bool StreamProcess::finish() {
  // What was published before the end carries an epoch below the second round's limit.
  for (int round = 0; round < 2; ++round)
    reader_->read_rest(
        [this](base::ThreadId thread, auto part) { recorder_.consume(thread, part); });
  return recorder_.finish();
}

}  // namespace halo::consumer
