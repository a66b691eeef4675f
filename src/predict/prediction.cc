// Replays a stored trace under a candidate plan.
#include "predict/prediction.h"

#include "predict/placement.h"

namespace halo::predict {

std::optional<Prediction> predict(const StoredTrace& trace, const simulator::Machine& machine,
                                  const Candidate& candidate, std::vector<uint64_t>* addresses) {
  Placement placement;
  if (!placement.open(candidate)) return {};
  std::vector<uint64_t> now(trace.objects().size());
  layout::Replay replay(machine, now);
  const base::ThreadId thread{};
  for (const StoredEvent event : trace.events()) {
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
        // realloc frees after it has allocated.
        if (!trace.objects()[event.number()].replaced) placement.free(now[event.number()]);
        break;
    }
  }
  if (addresses != nullptr) *addresses = now;
  return Prediction{replay.misses(), placement.peak_bytes()};
}

}  // namespace halo::predict
