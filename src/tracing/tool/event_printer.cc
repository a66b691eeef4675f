// Formats the lines.
#include "tracing/tool/event_printer.h"

#include "tracing/tool/trace_json.h"

namespace halo::trace_tool {

namespace {

using trace::Marker;
using trace::SiteKind;

int length(std::string_view text) { return int(text.size()); }

}  // namespace

void EventPrinter::metadata(std::string_view json) {
  fprintf(file_, "# trace %.*s\n", length(json), json.data());
}

void EventPrinter::module(const NewModule& module) {
  fprintf(file_, "# module %s %s sites %lu-%lu\n", module.text.path.c_str(),
          module.text.build_id.c_str(), module.text.first_site, module.sites_end - 1);
}

void EventPrinter::events(uint32_t thread, std::span<const trace::Logged> events) {
  for (const trace::Logged& event : events) {
    fprintf(file_, "%u ", thread);
    event.site < trace::kMarkers ? print_marker(event) : print_site(event);
  }
}

void EventPrinter::print_marker(const trace::Logged& event) {
  switch (Marker(event.site)) {
    case Marker::kEpoch:
      fprintf(file_, "epoch %lu\n", event.word1);
      return;
    case Marker::kAlloc:
      fprintf(file_, "alloc 0x%lx %lu\n", event.word1, event.word2);
      return;
    case Marker::kAllocFrom:
      fprintf(file_, "alloc-from 0x%lx 0x%lx\n", event.word1, event.word2);
      return;
    case Marker::kFrame:
      fprintf(file_, "frame 0x%lx 0x%lx\n", event.word1, event.word2);
      return;
    case Marker::kFree:
      fprintf(file_, "free 0x%lx\n", event.word1);
      return;
    case Marker::kRevive:
      fprintf(file_, "revive 0x%lx\n", event.word1);
      return;
    case Marker::kCount:
      fprintf(file_, "count %lu\n", event.word1);
      return;
    case Marker::kThreadEnd:
      fprintf(file_, "thread-end\n");
      return;
    case Marker::kLost:
      fprintf(file_, "lost %lu\n", event.word1);
      return;
  }
  fprintf(file_, "unknown-marker %lu 0x%lx 0x%lx\n", event.site, event.word1, event.word2);
}

void EventPrinter::print_site(const trace::Logged& event) {
  const trace::SiteText& site = (*sites_)[event.site];
  fprintf(file_, "%s 0x%lx ", site_kind_name(site.kind), event.word1);
  switch (site.kind) {
    case SiteKind::kEnter:
    case SiteKind::kExit:
      fprintf(file_, "0x%lx ", event.word2);
      break;
    case SiteKind::kReadRange:
    case SiteKind::kWriteRange:
    case SiteKind::kAllocation:
      fprintf(file_, "%lu ", event.word2);
      break;
    default:
      fprintf(file_, "%u =0x%lx ", unsigned{site.size}, event.word2);
  }
  fprintf(file_, "%.*s (%.*s) %.*s %.*s:%u:%u\n", length(site.variable), site.variable.data(),
          length(site.type), site.type.data(), length(site.function), site.function.data(),
          length(site.file), site.file.data(), site.line, site.column);
}

void EventPrinter::end(const TraceEnd& end) {
  fprintf(file_, "# end %s lost %lu %s\n", end.ending.c_str(), end.lost, end.detail.c_str());
}

}  // namespace halo::trace_tool
