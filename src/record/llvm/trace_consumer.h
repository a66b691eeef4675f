// What consumes a trace: events in one order, their sites known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "record/llvm/site_table.h"
#include "trace/logged.h"

namespace halo::record::llvm {

struct TraceEnd {
  std::string ending;  // complete, signal, no-space, exec, cut-short
  std::string detail;  // a sentence where the ending needs one
  uint64_t lost = 0;   // events that were logged but are not in the trace
};

class TraceConsumer {
 public:
  virtual ~TraceConsumer() = default;

  // `sites` lives as long as the reading and grows with each module.
  virtual void begin(const SiteTable& sites) = 0;
  // JSON, as docs/trace-format.md defines it.
  virtual void about(std::string_view json) = 0;
  virtual void maps(std::string_view json) = 0;
  virtual void module(const SiteTable::Module& module) = 0;
  // The next events, of one thread. Site numbers are known, or below kMarkers.
  virtual void events(uint32_t thread, std::span<const trace::Logged> events) = 0;
  // What came so far is all that there is for now.
  virtual void pause() = 0;
  virtual void end(const TraceEnd& end) = 0;
};

}  // namespace halo::record::llvm
