// Counts of a process, and its part.
#include "recorder/consumer/process_part.h"

#include "recorder/contexts/code/live_code.h"
#include "recorder/contexts/output/part_writer.h"

namespace halo::consumer {

ProcessPart::ProcessPart(const record::Options& options, const char* producer,
                         bool (*of_recorder)(const MapsLine&))
    : options_(options),
      producer_(producer),
      contexts_([this, of_recorder](const record::CodeVisitor& visit) {
        record::for_each_live_code(process_, of_recorder, visit);
      }),
      analysis_(options.parameters),
      progress_(options.progress) {}

void ProcessPart::restart_counts() {
  analysis_.restart_counts();
  start_ = std::chrono::steady_clock::now();
}

void ProcessPart::continue_as_child() {
  forked_ = true;
  progress_.abandon();
  restart_counts();
}

void ProcessPart::update_progress() {
  progress_.update(analysis_.objects_seen(), analysis_.accesses_seen(), instructions_,
                   elapsed_ns());
}

uint64_t ProcessPart::elapsed_ns() const {
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
}

bool ProcessPart::finish() {
  update_progress();
  return record::write_part(options_.out, analysis_.finish(), contexts_,
                            {.producer = producer_,
                             .pid = process_,
                             .seconds = double(elapsed_ns()) * 1e-9,
                             .instructions = instructions_,
                             .forked = forked_});
}

}  // namespace halo::consumer
