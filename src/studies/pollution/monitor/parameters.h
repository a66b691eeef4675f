// What the watch measures in, and its settings: those of NightWatch (Guo et al., ATC 2015).
//
// The watch judges pages of sampled objects by two references to them and by what the last-level
// cache did in between. It learns which allocation contexts pollute that cache.
#pragma once

#include <cstdint>

namespace halo::watch {

using Page = uint64_t;          // an address over the size of a page
using ContextIndex = uint32_t;  // an allocation context

// Which part of the last-level cache an object's pages may use (section 4).
enum class Mapping : uint8_t { kOpen, kRestrictive };

// What a watched object was found to be (section 5.1). Unknown: it was not watched to the end.
enum class Type : uint8_t { kUnknown, kNormal, kPolluter };

// Accesses to the last-level cache, and its misses, since some time before the first event.
struct Counters {
  uint64_t accesses = 0;
  uint64_t misses = 0;
};

// From when on the two counters of a pair of references count.
enum class Origin : uint8_t {
  kArmed,  // from the second arming: only misses that are certainly between the two references
  kFirst,  // from the first reference, as the authors' published code does; a control
};

struct Parameters {
  // Lines of the whole cache and of the part under the restrictive mapping (sections 2.1 and 6.1).
  uint64_t open_lines = 131072;
  uint64_t restrict_lines = 16384;
  uint32_t line_bytes = 64;
  uint32_t page_bytes = 4096;

  double sampled_exponent = 0.65;  // of the number of pages (section 6.3)
  double polluter_rate = 0.9;      // an object with at least this miss rate is a polluter
  double convergence = 0.1;        // change of the miss rate by a round that ends a phase
  uint32_t max_rounds = 8;
  uint64_t round_bytes = 16 << 10;  // each doubling of the object beyond this adds a round
  uint32_t max_bursts = 16;         // in a row, after which a page is dropped from its round

  uint64_t min_bytes = 65;          // smaller objects are never watched
  uint64_t always_bytes = 1 << 20;  // objects of this size or more are always watched
  uint32_t max_interval = 1024;     // objects of a context that are skipped in a row
  uint32_t max_pending = 8;  // objects of a context that are watched before it has their types
  uint64_t stale_us = 30'000'000;  // a context that was not watched for so long is watched again

  uint64_t pause_us = 100'000;      // between two samples of a page
  uint64_t period_us = 5'000'000;   // between two phases of an object; at least 1
  uint64_t timeout_us = 3'000'000;  // after which a phase ends with the samples that it has

  uint32_t max_objects = 512;
  uint32_t max_pages = 4096;
  Origin origin = Origin::kArmed;
  uint64_t seed = 1;  // of the choice of pages
};

}  // namespace halo::watch
