// The interface of consumers of a trace: ordered events with resolved sites.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tracing/format/logged.h"
#include "tracing/format/site_table.h"

namespace halo::trace_tool {

using trace::SiteTable;

// Bytes of a copy or a fill that are simulated: a program may crash in one of a random length.
inline constexpr uint64_t kMaxRange = uint64_t{1} << 32;

// The sites and types that a module has added to the table.
struct NewModule {
  const SiteTable::ModuleText& text;
  uint64_t sites_end;        // one past its last site
  int32_t types, types_end;  // its first type, and one past its last
};

struct TraceEnd {
  std::string ending;  // complete, signal, no-space, exec, cut-short
  std::string detail;  // a sentence, if the ending needs one
  uint64_t lost = 0;   // events that were logged but are not in the trace
};

class TraceConsumer {
 public:
  virtual ~TraceConsumer() = default;

  // `sites` remains valid during the reading, and grows with each module.
  virtual void begin(const SiteTable& sites) = 0;
  // JSON, as docs/trace-format.md defines it.
  virtual void metadata(std::string_view json) = 0;
  virtual void maps(std::string_view json) = 0;
  virtual void module(const NewModule& module) = 0;
  // The next events, of one thread. Site numbers are in the table, or below kMarkers.
  virtual void events(uint32_t thread, std::span<const trace::Logged> events) = 0;
  // No further events are available for now.
  virtual void pause() = 0;
  virtual void end(const TraceEnd& end) = 0;
};

}  // namespace halo::trace_tool
