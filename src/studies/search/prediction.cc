// Replays a stored trace under a candidate plan.
#include "studies/search/prediction.h"

#include <span>
#include <unordered_map>

#include "studies/search/placement.h"

namespace halo::predict {

namespace {

// The frees of a trace that happen.
class Frees {
 public:
  explicit Frees(const StoredTrace& trace) : trace_(trace), revived_(trace.revived()) {}

  // Whether the next free of the object releases its memory.
  bool releases(uint32_t number) {
    // realloc frees after it has allocated.
    if (trace_.objects()[number].replaced) return false;
    if (revived_.empty()) return true;
    const auto found = revived_.find(number);
    if (found == revived_.end() || found->second == 0) return true;
    --found->second;
    return false;
  }

 private:
  const StoredTrace& trace_;
  std::unordered_map<uint32_t, uint32_t> revived_;  // frees to ignore
};

}  // namespace

std::optional<Prediction> predict(const StoredTrace& trace, const simulator::Machine& machine,
                                  const Candidate& candidate, std::vector<uint64_t>* addresses) {
  Placement placement;
  if (!placement.open(candidate)) return {};
  std::vector<uint64_t> now(trace.objects().size());
  layout::Replay replay(machine, now);
  const base::ThreadId thread{};
  Frees frees(trace);
  std::span<const StoredHugePages> huge = trace.huge_pages();
  for (const StoredEvent& event : trace.events()) {
    for (; !huge.empty() && huge.front().before <= size_t(&event - trace.events().data());
         huge = huge.subspan(1))
      replay.huge_pages(huge.front().address, huge.front().bytes);
    switch (event.kind()) {
      case StoredEvent::Kind::kObject:
        replay.access_block(thread, event.number(), event.offset(), event.size(), event.store());
        break;
      case StoredEvent::Kind::kOutside:
        replay.access_outside(thread, event.address(), event.size(), event.store());
        break;
      case StoredEvent::Kind::kAllocate: {
        const StoredObject& object = trace.objects()[event.number()];
        uint64_t& address = now[event.number()];
        address = object.replaces == 0 ? placement.allocate(object)
                                       : placement.reallocate(now[object.replaces], object);
        placement.report_huge_pages(
            address, [&](uint64_t from, uint64_t bytes) { replay.huge_pages(from, bytes); });
        break;
      }
      case StoredEvent::Kind::kFree:
        if (frees.releases(event.number())) placement.free(now[event.number()]);
        break;
    }
  }
  if (addresses != nullptr) *addresses = now;
  return Prediction{replay.misses(), placement.grouped(), placement.mixed(),
                    placement.peak_bytes()};
}

}  // namespace halo::predict
