// Counting, and the JSON of it.
#include "record/llvm/trace_counter.h"

#include "record/json_text.h"
#include "record/llvm/trace_json.h"

namespace halo::record::llvm {

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
    const trace::Site& site = (*sites_)[event.site];
    ++kinds_[size_t(site.kind) % kKinds];
    if (!is_access(site.kind)) continue;
    without_variable_ += site.variable == 0;
    without_line_ += site.line == 0;
  }
}

void TraceCounter::end(const TraceEnd& end) {
  fprintf(file_, "{\"about\":%s,\n\"modules\":[", about_.c_str());
  print_modules();
  fprintf(file_, "],\n\"threads\":%zu,\"rounds\":%lu,\n\"events\":{", threads_.size(), rounds_);
  print_kinds();
  fprintf(file_,
          "},\n\"nameless\":{\"variable\":%lu,\"line\":%lu},\n\"ending\":", without_variable_,
          without_line_);
  print_json_string(file_, end.ending);
  fputs(",\"detail\":", file_);
  print_json_string(file_, end.detail);
  fprintf(file_, ",\"lost\":%lu}\n", end.lost);
}

void TraceCounter::print_modules() const {
  const char* separator = "";
  for (const SiteTable::Module& module : sites_->modules()) {
    fprintf(file_, "%s\n{\"path\":", separator);
    separator = ",";
    print_json_string(file_, module.path);
    fprintf(file_, ",\"build_id\":\"%s\",\"sites\":%lu,\"owners\":%d}", module.build_id.c_str(),
            module.sites, module.owners);
  }
}

void TraceCounter::print_kinds() const {
  const char* separator = "";
  for (size_t kind = 0; kind <= size_t(trace::SiteKind::kAllocation); ++kind) {
    if (kinds_[kind] == 0) continue;
    fprintf(file_, "%s\"%s\":%lu", separator, site_kind_name(trace::SiteKind(kind)), kinds_[kind]);
    separator = ",";
  }
  for (size_t marker = 1; marker < std::size(kMarkerNames); ++marker) {
    if (markers_[marker] == 0) continue;
    fprintf(file_, "%s\"%s\":%lu", separator, kMarkerNames[marker], markers_[marker]);
    separator = ",";
  }
}

}  // namespace halo::record::llvm
