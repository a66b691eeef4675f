// The word of a span that the runtime's threads and the watch change.
#pragma once

#include <cstdint>

#include "runtime/extra/spans/span_watcher.h"

namespace halo::watching {

inline uint32_t state_of(uint32_t word) { return word & ((1u << kHaloSpanStateBits) - 1); }

inline uint32_t change_state(uint32_t word, HaloSpanState to) {
  return (word & ~((1u << kHaloSpanStateBits) - 1)) | to;
}

inline uint32_t load_state(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

inline bool replace_state(uint32_t* word, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

inline void ignore(uint32_t* word) {
  __atomic_store_n(word, change_state(load_state(word), kHaloSpanIgnored), __ATOMIC_RELEASE);
}

}  // namespace halo::watching
