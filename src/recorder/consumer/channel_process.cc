// Reads chunks, and records their words.
#include "recorder/consumer/channel_process.h"

#include <utility>

namespace halo::consumer {

ChannelProcess::ChannelProcess(const record::Options& options,
                               std::unique_ptr<ChannelReader> reader)
    : reader_(std::move(reader)), recorder_(options) {
  recorder_.part().set_process(process());
}

RecordedProcess::Taken ChannelProcess::take() {
  const auto words = reader_->next();
  if (words.empty()) return Taken::kNothing;
  recorder_.part().set_process(process());  // a forked child connects only now
  recorder_.part().set_instructions(reader_->instructions());
  // The process waits before it forks: the word is the last of its chunk.
  if (recorder_.consume(words)) return Taken::kFork;
  reader_->release();
  return Taken::kEvents;
}

bool ChannelProcess::continue_as_child(const Descriptors& child) {
  reader_ = std::make_unique<ChannelReader>(child);
  if (!reader_->good()) return false;
  recorder_.continue_as_child();
  return true;
}

}  // namespace halo::consumer
