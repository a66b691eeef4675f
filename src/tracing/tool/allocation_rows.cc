// Resolves pending rows.
#include "tracing/tool/allocation_rows.h"

namespace halo::trace_tool {

void AllocationRows::alloc(int64_t seq, int32_t thread, uint64_t address, uint64_t bytes) {
  finish(thread);
  of(thread).allocation = {.seq = seq,
                           .thread = thread,
                           .object = objects_.add(address, bytes),
                           .address = address,
                           .bytes = bytes};
}

bool AllocationRows::free(int64_t seq, int32_t thread, uint64_t address) {
  finish(thread);
  const uint64_t bytes = objects_.size_at(address);
  if (bytes == 0) return false;
  of(thread).free = {seq, thread, objects_.free(address), address, bytes};
  return true;
}

void AllocationRows::revive(int32_t thread, uint64_t address) {
  FreeRow& row = of(thread).free;
  if (row.seq == 0 || row.address != address) return;
  if (objects_.revive(address, row.bytes, row.object)) row = {};
}

// A function that wraps another allocator has its own allocation site event. The outer one comes
// later and knows the type of the object better. It must describe the whole object: the first piece
// of a pool has the pool's address.
bool AllocationRows::site(int64_t seq, int32_t thread, uint64_t address, int32_t site,
                          uint64_t elements, uint64_t element_bytes) {
  AllocationRow& row = of(thread).allocation;
  const uint64_t bytes = elements * element_bytes;
  const bool same = row.seq != 0 && row.address == address;
  if (same && (row.site == 0 ? bytes <= row.bytes : bytes == row.bytes)) {
    row.site = site;
    row.elements = elements;
    row.element_bytes = element_bytes;
    return false;
  }
  allocated_({seq, thread, 0, address, bytes, site, elements, element_bytes});
  return true;
}

void AllocationRows::finish(int32_t thread) {
  Waiting& waiting = of(thread);
  deliver(waiting.allocation);
  deliver(waiting.free);
}

void AllocationRows::end(int32_t thread) {
  finish(thread);
  threads_.erase(thread);
}

void AllocationRows::finish_below(int64_t seq) {
  for (auto& [thread, waiting] : threads_) {
    if (waiting.allocation.seq < seq) deliver(waiting.allocation);
    if (waiting.free.seq < seq) deliver(waiting.free);
  }
}

void AllocationRows::deliver(AllocationRow& row) {
  if (row.seq != 0) allocated_(row);
  row = {};
}

void AllocationRows::deliver(FreeRow& row) {
  if (row.seq != 0) freed_(row);
  row = {};
}

}  // namespace halo::trace_tool
