// A process under the native engine.
#pragma once

#include <chrono>
#include <memory>

#include "recorder/consumer/recorded_process.h"
#include "recorder/consumer/stream_reader.h"
#include "recorder/consumer/stream_recorder.h"

namespace halo::consumer {

class StreamProcess : public RecordedProcess {
 public:
  StreamProcess(const record::Options& options, std::unique_ptr<StreamReader> reader);

  pid_t process() const override { return reader_->process(); }
  bool connected() const override { return reader_->connected(); }
  Taken take() override;
  void forked() override {}
  bool continue_as_child(const Descriptors& child) override;
  int connection() const override { return reader_->connection(); }
  void update_progress() override { recorder_.part().update_progress(); }
  bool finish() override;

 private:
  std::unique_ptr<StreamReader> reader_;
  StreamRecorder recorder_;
  std::chrono::steady_clock::time_point recycled_{};
};

}  // namespace halo::consumer
