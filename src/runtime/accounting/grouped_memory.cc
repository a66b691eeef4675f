#include "runtime/accounting/grouped_memory.h"

#include <algorithm>

#include "runtime/extra.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {
namespace {

// The numbers are read one after the other, so a later one may be too small.
GroupedMemory ordered(GroupedMemory memory) {
  memory.active = std::max(memory.active, memory.live);
  memory.resident = std::max(memory.resident, memory.active);
  memory.mapped = std::max(memory.mapped, memory.resident);
  return memory;
}

GroupedMemory block_memory() {
  if (arena.bytes() == 0) return {};
  GroupBytes sum;
  for (const ThreadHeap* heap = first_thread_heap(); heap != nullptr; heap = heap->next()) {
    const GroupBytes part = heap->bytes();
    sum.live += part.live;
    sum.resident += part.resident;
  }
  const SteppingCounts stepping = stepping_counts();
  const uint64_t active = sum.resident + stepping.resident;
  return ordered(
      {sum.live + stepping.live, active, active + arena.dirty_bytes(), arena.opened_bytes()});
}

}  // namespace

GroupedTotals grouped_totals() {
  const SpanBytes spans = span_bytes();
  const GroupedMemory of_spans{spans.live, spans.used, spans.used + spans.kept, spans.mapped};
  return {block_memory(), ordered(of_spans), spans.spans};
}

GroupedMemory grouped_memory() {
  const auto [blocks, spans, span_count] = grouped_totals();
  return {blocks.live + spans.live, blocks.active + spans.active, blocks.resident + spans.resident,
          blocks.mapped + spans.mapped};
}

size_t purge_grouped_memory() {
  if (ThreadHeap* const heap = current_heap) {
    const InsideHeap inside(heap);
    heap->flush();
  }
  const size_t purged = arena.bytes() == 0 ? 0 : arena.purge_free();
  return purged + purge_spans();
}

}  // namespace halo::runtime
