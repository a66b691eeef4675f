// Filling the table of callers in place, under the eyes of readers.
#include "runtime/callers.h"

#include <algorithm>

namespace halo::runtime {
namespace {

constexpr unsigned most_used = caller_slots / 4 * 3;  // so that probing always meets an empty slot

// Slots are looked through by the block; this one may have words. Most have never had any, and
// their pages are not touched.
constexpr unsigned block_slots = 512;
constinit bool block_used[caller_slots / block_slots]{};

void write_word(unsigned slot, std::uintptr_t address, CallerCode code) {
  block_used[slot / block_slots] = true;
  __atomic_store_n(&caller_words[slot], (std::uint64_t{address} << 16) | code, __ATOMIC_RELAXED);
}

bool is_forwarded(std::uint64_t word) { return static_cast<CallerCode>(word) == code_forward; }

bool among(std::span<const Caller> callers, std::uintptr_t address) {
  return std::ranges::binary_search(callers, address, {}, &Caller::address);
}

void add(const Caller& caller, unsigned& used) {
  unsigned slot = caller_hash(caller.address);
  unsigned free = caller_slots;  // the first slot on the way whose caller is gone
  for (;; slot = (slot + 1) % caller_slots) {
    const std::uint64_t word = caller_word_at(slot);
    if (word >> 16 == caller.address) return write_word(slot, caller.address, caller.code);
    if (word == 0) break;
    if (free == caller_slots && is_forwarded(word)) free = slot;
  }
  if (free != caller_slots) return write_word(free, caller.address, caller.code);
  if (used == most_used) return;
  ++used;
  write_word(slot, caller.address, caller.code);
}

}  // namespace

alignas(64) constinit std::uint64_t caller_words[caller_slots]{};

void set_callers(std::span<const Caller> callers) {
  unsigned used = 0;
  // Downwards: where the next slot is empty, no search goes on past this one, and a caller that is
  // gone can be forgotten.
  for (unsigned slot = caller_slots; slot-- > 0;) {
    if (!block_used[slot / block_slots]) {
      slot -= slot % block_slots;
      continue;
    }
    const std::uint64_t word = caller_word_at(slot);
    if (word == 0) continue;
    const bool gone = is_forwarded(word) || !among(callers, word >> 16);
    if (gone && caller_word_at((slot + 1) % caller_slots) == 0) {
      __atomic_store_n(&caller_words[slot], 0, __ATOMIC_RELAXED);
      continue;
    }
    ++used;
    if (gone) write_word(slot, word >> 16, code_forward);
  }
  for (const Caller& caller : callers) add(caller, used);
}

}  // namespace halo::runtime
