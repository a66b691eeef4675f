// The JSON that halo-trace prints about a trace: for halo/studies/tracing, and for `halo-trace
// info`.
#pragma once

#include <string>

#include "simulator/machine.h"
#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// As in docs/trace-columns.md.
const char* site_kind_name(trace::SiteKind kind);

// {"machine": as in docs/simulator.md, "levels": number of its cache levels}
std::string machine_json(const simulator::Machine& machine);

// {"path", "build_id", "first_site", "sites": [[kind, variable, type, owner_id, field,
// field_offset, bytes, function, file, line, column]…], "owners": {"first": id, "all": [[owner,
// kind, bytes, file, line, [[field, type, offset, bytes]…]]…]}}
std::string module_json(const SiteTable& sites, const NewModule& module);

// {"events", "lost", "ending", "detail"}
std::string end_json(const TraceEnd& end, uint64_t events);

}  // namespace halo::trace_tool
