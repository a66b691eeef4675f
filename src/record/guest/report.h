// Reports to the recorder; inert where there is none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/protocol.h"

namespace halo::record::guest {

enum class Listener : int { kUnknown, kRecorder, kNobody };
extern Listener listener;

// Asks once whether a recorder listens.
void say_hello();
void send(const Message& message);

inline void report_alloc(void* address, size_t size, uint64_t slot) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kAlloc, reinterpret_cast<uint64_t>(address), size, slot});
}

inline void report_free(void* address) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kFree, reinterpret_cast<uint64_t>(address), 0, 0});
}

inline void report_revive(void* address) {
  if (address == nullptr || listener != Listener::kRecorder) return;
  send({0, Report::kRevive, reinterpret_cast<uint64_t>(address), 0, 0});
}

}  // namespace halo::record::guest
