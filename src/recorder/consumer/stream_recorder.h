// Turns the records of the native engine into a part of the profile.
#pragma once

#include <deque>
#include <vector>

#include "recorder/channel/streams.h"
#include "recorder/consumer/process_part.h"

namespace halo::consumer {

class StreamRecorder {
 public:
  explicit StreamRecorder(const record::Options& options);

  ProcessPart& part() { return part_; }

  // Consumes the next records of a thread; analyse() analyses them. Returns true if one of them
  // announces a fork.
  bool consume(base::ThreadId thread, std::span<const events::Record> records);
  void analyse();
  void end_thread(base::ThreadId thread);
  // Called in the forked consumer, for the child of the recorded process. It keeps the live
  // objects, but counts only its own events.
  void continue_as_child();
  // Returns false if the part cannot be written.
  bool finish() {
    analyse();
    return part_.finish();
  }

 private:
  struct Thread {
    explicit Thread(record::ContextTable& table) : resolver(table) {}

    std::vector<record::ShadowFrame> frames;  // of the stack that was sent last, outermost first
    bool is_sent = false;                     // since the allocation before
    std::vector<base::NodeId> contexts;       // by place
    record::ContextResolver resolver;
  };

  Thread& thread_of(base::ThreadId thread);
  bool take(Thread& thread, const events::Record& record);
  static base::NodeId context_of(Thread& thread, const events::Record& alloc);

  ProcessPart part_;
  std::deque<Thread> threads_;  // by number
  // The records that wait for analyse(), and the parts of them that are of one thread.
  struct Run {
    base::ThreadId thread;
    size_t end;
  };
  std::vector<events::Record> converted_;
  std::vector<Run> runs_;
};

}  // namespace halo::consumer
