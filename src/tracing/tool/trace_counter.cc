// Counts events, and prints the counts as JSON.
#include "tracing/tool/trace_counter.h"

#include "tracing/tool/trace_json.h"

namespace halo::trace_tool {

namespace {

constexpr const char* kMarkerNames[] = {nullptr, "epochs",  "allocs", "alloc-froms", "frames",
                                        "frees", "revives", "counts", "thread-ends", "losses"};

bool is_access(trace::SiteKind kind) {
  return kind >= trace::SiteKind::kLoad && kind <= trace::SiteKind::kWriteRange;
}

}  // namespace

void TraceCounter::events(uint32_t thread, std::span<const trace::Logged> events) {
  threads_.insert(thread);
  for (const trace::Logged& event : events) {
    if (event.site < trace::kMarkers) {
      ++markers_[event.site];
      continue;
    }
    const trace::SiteText& site = (*sites_)[event.site];
    ++kinds_[size_t(site.kind) % kKinds];
    if (!is_access(site.kind)) continue;
    without_variable_ += site.variable.empty();
    without_line_ += site.line == 0;
  }
}

void TraceCounter::end(const TraceEnd& end) {
  JsonWriter json(file_);
  json.value([&] {
    json.key("about");
    json.raw(metadata_);
    json.new_line();
    json.list("modules", sites_->modules(), [&](const SiteTable::ModuleText& module) {
      json.value([&] {
        json.fields("path", module.path, "build_id", module.build_id, "first_site",
                    module.first_site);
      });
    });
    json.new_line();
    json.fields("threads", threads_.size(), "rounds", rounds_);
    json.new_line();
    json.field("events", [&] { write_kinds(json); });
    json.new_line();
    json.field("nameless",
               [&] { json.fields("variable", without_variable_, "line", without_line_); });
    json.new_line();
    json.fields("ending", end.ending, "detail", end.detail, "lost", end.lost);
  });
  fputc('\n', file_);
}

void TraceCounter::write_kinds(JsonWriter& json) const {
  for (size_t kind = 0; kind <= size_t(trace::SiteKind::kAllocation); ++kind)
    if (kinds_[kind] != 0) json.field(site_kind_name(trace::SiteKind(kind)), kinds_[kind]);
  for (size_t marker = 1; marker < std::size(kMarkerNames); ++marker)
    if (markers_[marker] != 0) json.field(kMarkerNames[marker], markers_[marker]);
}

}  // namespace halo::trace_tool
