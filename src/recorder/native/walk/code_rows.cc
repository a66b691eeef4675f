// Finds rows in the loaded modules.
#include "recorder/native/walk/code_rows.h"

#include <dlfcn.h>

#include "recorder/native/walk/call_frames.h"

namespace halo::native {

// Racing threads may add a module twice.
bool CodeRows::is_new(uint64_t module) {
  for (std::atomic<uint64_t>& entry : modules_) {
    uint64_t found = entry.load(std::memory_order_relaxed);
    if (found == module) return false;
    if (found != 0) continue;
    if (entry.compare_exchange_strong(found, module, std::memory_order_relaxed)) return true;
  }
  return true;
}

Row CodeRows::look_up(uint64_t code) {
  dl_find_object module;
  // Without a lock, so that a thread that holds one of the linker's may allocate.
  if (_dl_find_object(reinterpret_cast<void*>(code), &module) != 0)
    return {.base = Row::Base::kNoModule};
  if (is_new(reinterpret_cast<uint64_t>(module.dlfo_map_start)))
    unknown_.store(code, std::memory_order_relaxed);
  const auto* header = static_cast<const uint8_t*>(module.dlfo_eh_frame);
  const Row row = header == nullptr ? Row{} : find_row(header, code);
  const uint64_t key = key_of(code), generation = key >> kGenerationShift;
  for (uint64_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = entries_[(hash(code) + probe) % kEntries];
    uint64_t found = entry.key.load(std::memory_order_relaxed);
    if (found == kBusy || found >> kGenerationShift == generation) continue;
    if (!entry.key.compare_exchange_strong(found, kBusy, std::memory_order_acq_rel)) continue;
    entry.row.store(row, std::memory_order_relaxed);
    entry.key.store(key, std::memory_order_release);
    break;
  }
  return row;
}

}  // namespace halo::native
