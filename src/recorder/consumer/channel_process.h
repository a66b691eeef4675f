// A process under the Valgrind engine.
#pragma once

#include <memory>

#include "recorder/consumer/process_recorder.h"
#include "recorder/consumer/recorded_process.h"

namespace halo::consumer {

class ChannelProcess : public RecordedProcess {
 public:
  ChannelProcess(const record::Options& options, std::unique_ptr<ChannelReader> reader);

  pid_t process() const override { return reader_->process(); }
  bool connected() const override { return reader_->connected(); }
  Taken take() override;
  void forked() override { reader_->release(); }
  bool continue_as_child(const Descriptors& child) override;
  int connection() const override { return reader_->connection(); }
  void update_progress() override { recorder_.part().update_progress(); }
  bool finish() override { return recorder_.finish(); }

 private:
  std::unique_ptr<ChannelReader> reader_;
  ProcessRecorder recorder_;
};

}  // namespace halo::consumer
