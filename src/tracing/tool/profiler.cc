// Translates events to calls of the producers.
#include "tracing/tool/profiler.h"

#include <algorithm>
#include <bit>

#include "recorder/contexts/output/part_writer.h"
#include "tracing/tool/trace_facts.h"

namespace halo::trace_tool {

namespace {

using trace::Marker;
using trace::SiteKind;

constexpr uint64_t kGranule = 16;
constexpr uint64_t kWord = 8;  // bytes of the widest access of a profile

// The trace does not contain the bounds of stacks: all slots of a thread are taken for one stack.
AddressRange any_stack(uint64_t) { return {0, 1ULL << 47}; }

uint8_t alignment_class(uint8_t log2) { return log2 < 4 ? 0 : uint8_t(std::min(log2 - 3, 3)); }

}  // namespace

Profiler::Thread::Thread(base::ThreadId id, Profiler& owner)
    : producer(id, owner.shared_, owner.contexts_, any_stack) {}

Profiler::Profiler(const record::Options& options, std::string phase)
    : options_(options),
      phase_(std::move(phase)),
      traits_(trace::kMarkers),
      contexts_([this](const record::CodeVisitor& visit) { code_.for_each(visit); }),
      analysis_(options.parameters),
      progress_(options.progress) {
  shared_.max_object_size = options.parameters.max_object_size;
  shared_.all_accesses = options.parameters.need_all_accesses();
  shared_.on_ring_full = [this] { drain(*current_); };
}

void Profiler::metadata(std::string_view json) { pid_ = read_facts(json).pid; }

void Profiler::maps(std::string_view json) {
  code_.add_maps(json);
  for (const Sites& sites : site_places_) code_.add_sites(sites.path, sites.begin, sites.end);
  contexts_.drop_code({0, UINT64_MAX});
}

void Profiler::module(const NewModule& module) {
  for (uint64_t number = module.text.first_site; number < module.sites_end; ++number) {
    const trace::SiteText& site = (*sites_)[number];
    traits_.push_back({site.kind, alignment_class(site.alignment_log2), site.size,
                       sites_->address_of(number), is_of_phase(site)});
  }
  const uint64_t begin = module.text.sites_address;
  const uint64_t count = module.sites_end - module.text.first_site;
  site_places_.push_back({module.text.path, begin, begin + count * sizeof(trace::Site)});
  code_.add_sites(module.text.path, begin, site_places_.back().end);
  contexts_.mappings_changed();
}

bool Profiler::is_of_phase(const trace::SiteText& site) const {
  if (phase_.empty() || (site.kind != SiteKind::kEnter && site.kind != SiteKind::kExit))
    return false;
  if (!site.function.starts_with(phase_)) return false;
  const std::string_view parameters = site.function.substr(phase_.size());
  return parameters.empty() || parameters.front() == '(';
}

Profiler::Thread& Profiler::thread(uint32_t number) {
  std::unique_ptr<Thread>& found = threads_[number];
  if (found == nullptr) found = std::make_unique<Thread>(base::ThreadId{number}, *this);
  return *found;
}

void Profiler::events(uint32_t number, std::span<const trace::Logged> events) {
  current_ = &thread(number);
  for (const trace::Logged& event : events) {
    if (event.site < trace::kMarkers) {
      on_marker(*current_, event);
    } else {
      on_site(*current_, event);
    }
  }
  drain(*current_);
}

void Profiler::on_marker(Thread& thread, const trace::Logged& event) {
  switch (Marker(event.site)) {
    case Marker::kFrame:
      thread.frames.push_back({event.word1, event.word2});
      return;
    case Marker::kAlloc:
      thread.alloc_address = event.word1;
      thread.alloc_bytes = event.word2;
      return;
    case Marker::kAllocFrom:
      return alloc(thread, event.word1, event.word2);
    case Marker::kFree:
      return thread.producer.free(event.word1);
    case Marker::kRevive:
      return thread.producer.revive(event.word1);
    case Marker::kThreadEnd:
      thread.producer.end();
      drain(thread);
      thread.producer.reuse();
      thread.frames.clear();
      return;
    case Marker::kEpoch:
    case Marker::kCount:
    case Marker::kLost:
      return;
  }
}

// Uninstrumented code reports no returns. Its frames further in than the innermost instrumented one
// are dropped immediately; the others when a call or return further out shows that they have ended.
// Frames outside all instrumented code are reported only with some allocations, so they are left
// out of all.
void Profiler::alloc(Thread& thread, uint64_t slot, uint64_t return_address) {
  record::ShadowStack& stack = thread.producer.stack();
  thread.frames.push_back({slot, return_address});
  const bool bare = stack.frames().empty();
  const uint64_t outermost = bare ? UINT64_MAX : stack.frames().front().slot;
  const uint64_t innermost = bare ? UINT64_MAX : stack.frames().back().slot;
  uint64_t inside = slot;
  for (const Frame& frame : thread.frames) {
    if (frame.slot > outermost) continue;
    stack.insert(frame.slot, frame.return_address);
    if (frame.slot < innermost) inside = std::max(inside, frame.slot);
  }
  thread.producer.alloc(thread.alloc_address, thread.alloc_bytes, slot);
  stack.ret(inside);
  thread.frames.clear();
}

void Profiler::on_site(Thread& thread, const trace::Logged& event) {
  const Traits& site = traits_[event.site];
  if (site.of_phase) [[unlikely]]
    thread.producer.phase(site.kind == SiteKind::kEnter);
  switch (site.kind) {
    case SiteKind::kEnter:
      return thread.producer.stack().call(event.word1, event.word2);
    case SiteKind::kExit:
      return thread.producer.stack().ret(event.word1);
    case SiteKind::kLoad:
      return access(thread, event.word1, site.size, false, site);
    case SiteKind::kStore:
    case SiteKind::kUpdate:
      return access(thread, event.word1, site.size, true, site);
    case SiteKind::kReadRange:
      return touch(thread, event.word1, event.word2, false, site);
    case SiteKind::kWriteRange:
      return touch(thread, event.word1, event.word2, true, site);
    case SiteKind::kAllocation:
    case SiteKind::kUnknown:
      return;
  }
}

// Like the engine `valgrind`: in pieces of 8 bytes, and the rest in powers of two.
void Profiler::access(Thread& thread, uint64_t address, uint64_t bytes, bool store,
                      const Traits& site) {
  if (!shared_.wants(address)) return;
  while (bytes > 0) {
    const uint64_t piece = std::min(std::bit_floor(bytes), kWord);
    thread.producer.access(address, uint32_t(std::countr_zero(piece)), store, site.alignment_class,
                           site.code);
    address += piece;
    bytes -= piece;
  }
}

// A copy or a fill: in pieces of 8 bytes, up to the bounds of granules.
void Profiler::touch(Thread& thread, uint64_t address, uint64_t bytes, bool store,
                     const Traits& site) {
  for (const uint64_t end = address + std::min(bytes, kMaxRange); address < end;) {
    const uint64_t next = std::min((address | (kGranule - 1)) + 1, end);
    access(thread, address, next - address, store, site);
    address = next;
  }
}

void Profiler::drain(Thread& thread) {
  events::MergeSource& source = thread.producer.source();
  source.end = source.ring->published();
  events::drain_single(source, [this](base::ThreadId id, std::span<const events::Record> records) {
    analysis_.consume(id, records);
  });
}

void Profiler::pause() {
  progress_.update(analysis_.objects_seen(), analysis_.accesses_seen(), 0, elapsed_ns());
}

uint64_t Profiler::elapsed_ns() const {
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
}

void Profiler::end(const TraceEnd&) {
  for (auto& [number, thread] : threads_) {
    thread->producer.flush();
    drain(*thread);
  }
  pause();
  const double seconds = double(elapsed_ns()) * 1e-9;
  written_ = record::write_part(options_.out, analysis_.finish(), contexts_,
                                {.producer = "llvm", .pid = pid_, .seconds = seconds});
}

}  // namespace halo::trace_tool
