// Creates a row for each event.
#include "tracing/tool/column_maker.h"

#include <algorithm>
#include <limits>

#include "tracing/tool/trace_json.h"

namespace halo::trace_tool {

namespace {

using trace::Marker;
using trace::SiteKind;

int32_t narrow(uint64_t value) {
  return int32_t(std::min<uint64_t>(value, std::numeric_limits<int32_t>::max()));
}

// The low bytes, as accessed.
uint64_t masked(uint64_t value, uint32_t bytes) {
  return bytes >= 8 ? value : value & ((1ULL << (8 * bytes)) - 1);
}

}  // namespace

ColumnMaker::ColumnMaker(BlockOutput& output, const std::optional<simulator::Machine>& machine)
    : output_(output),
      traits_(trace::kMarkers),
      rows_(
          [this](const AllocationRow& row) {
            allocations_.add(row.seq, row.thread, row.object, int64_t(row.address),
                             int64_t(row.bytes), row.site, int64_t(row.elements),
                             int64_t(row.element_bytes));
            if (allocations_.full()) allocations_.flush(output_);
          },
          [this](const FreeRow& row) {
            frees_.add(row.seq, row.thread, row.object);
            if (frees_.full()) frees_.flush(output_);
          }) {
  if (!machine) return;
  hierarchy_ = std::make_unique<simulator::Hierarchy>(*machine);
  line_ = machine->line;
  output_.write(BlockKind::kMachine, machine_json(*machine));
}

void ColumnMaker::metadata(std::string_view json) { output_.write(BlockKind::kMetadata, json); }

void ColumnMaker::module(const NewModule& module) {
  for (uint64_t number = module.text.first_site; number < module.sites_end; ++number) {
    const trace::SiteText& site = (*sites_)[number];
    traits_.push_back({site.kind, site.size});
  }
  output_.write(BlockKind::kModule, module_json(*sites_, module));
}

ColumnMaker::Thread& ColumnMaker::thread(uint32_t number) {
  if (number >= threads_.size()) threads_.resize(number + 1);
  Thread& found = threads_[number];
  if (found.number < 0) found.number = next_thread_++;
  return found;
}

void ColumnMaker::events(uint32_t number, std::span<const trace::Logged> events) {
  Thread& mine = thread(number);
  for (const trace::Logged& event : events) {
    if (event.site < trace::kMarkers) {
      on_marker(mine, event);
    } else {
      on_site(mine, event);
    }
  }
}

void ColumnMaker::on_marker(Thread& thread, const trace::Logged& event) {
  if (thread.number < 0) thread.number = next_thread_++;
  switch (Marker(event.site)) {
    case Marker::kAlloc:
      return rows_.alloc(++seq_, thread.number, event.word1, event.word2);
    case Marker::kFree:
      if (rows_.free(seq_ + 1, thread.number, event.word1)) ++seq_;
      return;
    case Marker::kRevive:
      return rows_.revive(thread.number, event.word1);
    case Marker::kCount: {
      const trace::Logged& site = thread.allocation;
      if (site.site != 0 && rows_.site(seq_ + 1, thread.number, site.word1, int32_t(site.site),
                                       event.word1, site.word2))
        ++seq_;
      thread.allocation = {};
      return;
    }
    case Marker::kThreadEnd:
      rows_.end(thread.number);
      thread = {};
      return;
    case Marker::kLost:
      lost_ += event.word1;
      return;
    case Marker::kEpoch:
    case Marker::kAllocFrom:
    case Marker::kFrame:
      return;
  }
}

void ColumnMaker::on_site(Thread& thread, const trace::Logged& event) {
  if (thread.number < 0) thread.number = next_thread_++;
  const Traits traits = traits_[event.site];
  switch (traits.kind) {
    case SiteKind::kEnter:
    case SiteKind::kExit:
      calls_.add(++seq_, thread.number, int32_t(event.site), traits.kind == SiteKind::kEnter);
      if (calls_.full()) calls_.flush(output_);
      return;
    case SiteKind::kAllocation:
      thread.allocation = event;
      return;
    case SiteKind::kUnknown:
      return;
    default:
      return on_access(thread, event, traits);
  }
}

void ColumnMaker::on_access(Thread& thread, const trace::Logged& event, Traits traits) {
  const bool range = traits.kind == SiteKind::kReadRange || traits.kind == SiteKind::kWriteRange;
  const bool store = traits.kind != SiteKind::kLoad && traits.kind != SiteKind::kReadRange;
  const uint64_t bytes = range ? event.word2 : traits.size;
  const simulator::Reach far = reach(event.word1, bytes, store);
  const HeapObjects::Place place = rows_.objects().find(event.word1);
  accesses_.add(++seq_, thread.number, int32_t(event.site), int64_t(event.word1), narrow(bytes),
                range ? 0 : int64_t(masked(event.word2, traits.size)), int8_t(far.cache),
                int8_t(far.tlb), place.object, narrow(place.offset));
  if (accesses_.full()) accesses_.flush(output_);
}

// The farthest level of all lines that it touches.
simulator::Reach ColumnMaker::reach(uint64_t address, uint64_t bytes, bool store) {
  if (hierarchy_ == nullptr || bytes == 0) return {};
  if (bytes <= line_) return hierarchy_->access(address, uint32_t(bytes), store);
  simulator::Reach farthest;
  for (const uint64_t end = address + std::min(bytes, kMaxRange); address < end;) {
    const uint64_t next = std::min((address | (line_ - 1)) + 1, end);
    const simulator::Reach one = hierarchy_->access(address, uint32_t(next - address), store);
    farthest = {std::max(farthest.cache, one.cache), std::max(farthest.tlb, one.tlb)};
    address = next;
  }
  return farthest;
}

void ColumnMaker::pause() {
  rows_.finish_below(seq_ - kMaxPending);
  flush();
}

void ColumnMaker::flush() {
  allocations_.flush(output_);
  accesses_.flush(output_);
  calls_.flush(output_);
  frees_.flush(output_);
}

void ColumnMaker::end(const TraceEnd& end) {
  rows_.finish_below(std::numeric_limits<int64_t>::max());
  flush();
  TraceEnd known = end;
  known.lost = std::max(known.lost, lost_);
  output_.write(BlockKind::kEnd, end_json(known, uint64_t(seq_)));
}

}  // namespace halo::trace_tool
