// Converts a trace to a profile: drives the recorder's producers and sinks with its events.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recorder/analysis/analysis.h"
#include "recorder/contexts/context_table.h"
#include "recorder/contexts/options.h"
#include "recorder/contexts/output/progress.h"
#include "recorder/contexts/producer.h"
#include "tracing/tool/stored_code.h"
#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// The events are ordered already: each thread's producer is drained into the sinks before the next
// one continues.
class Profiler : public TraceConsumer {
 public:
  // `phase` is a function, named with or without parameters, that is a phase of the program; or
  // empty.
  explicit Profiler(const record::Options& options, std::string phase = "");

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void metadata(std::string_view json) override;
  void maps(std::string_view json) override;
  void module(const NewModule& module) override;
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override;
  void end(const TraceEnd& end) override;

  // Whether the part was written, or nothing had to be written.
  bool written() const { return written_; }

 private:
  struct Traits {
    trace::SiteKind kind;
    uint8_t alignment_class;
    uint16_t size;
    uint64_t code;
    bool of_phase;  // an entry into the phase's function, or an exit
  };
  struct Frame {
    uint64_t slot, return_address;
  };
  // The address range of a module's sites.
  struct Sites {
    std::string path;
    uint64_t begin, end;
  };
  struct Thread {
    explicit Thread(base::ThreadId id, Profiler& owner);
    record::Producer producer;
    std::vector<Frame> frames;  // reported before the next allocation
    uint64_t alloc_address = 0, alloc_bytes = 0;
  };

  Thread& thread(uint32_t number);
  void on_marker(Thread& thread, const trace::Logged& event);
  void on_site(Thread& thread, const trace::Logged& event);
  void alloc(Thread& thread, uint64_t slot, uint64_t return_address);
  void access(Thread& thread, uint64_t address, uint64_t bytes, bool store, const Traits& site);
  void touch(Thread& thread, uint64_t address, uint64_t bytes, bool store, const Traits& site);
  void drain(Thread& thread);
  uint64_t elapsed_ns() const;

  bool is_of_phase(const trace::SiteText& site) const;

  const record::Options options_;
  const std::string phase_;
  const SiteTable* sites_ = nullptr;
  std::vector<Traits> traits_;  // by site number
  std::vector<Sites> site_places_;
  StoredCode code_;
  record::ContextTable contexts_;
  record::ProducerShared shared_;
  sinks::Analysis analysis_;
  record::ProgressFile progress_;
  std::map<uint32_t, std::unique_ptr<Thread>> threads_;
  Thread* current_ = nullptr;
  int pid_ = 0;
  bool written_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halo::trace_tool
