// Changes of the callers table while other threads read it.
#include "runtime/identify/callers.h"

namespace halo::runtime {
namespace {

bool is_forwarded(uint64_t word) { return static_cast<CallerCode>(word) == kCodeForward; }

unsigned slot_after(unsigned slot) { return (slot + 1) % kCallerSlots; }
unsigned slot_before(unsigned slot) { return (slot + kCallerSlots - 1) % kCallerSlots; }

}  // namespace

alignas(64) constinit uint64_t caller_words[kCallerSlots]{};
constinit unsigned used_caller_slots = 0;

void add_among_others(const Caller& caller) {
  const uint64_t word = word_of(caller);
  unsigned slot = caller_hash(caller.address);
  unsigned free = kCallerSlots;  // the first slot in the chain whose caller was removed
  for (;; slot = slot_after(slot)) {
    const uint64_t there = caller_word_at(slot);
    if (there >> 16 == caller.address) return write_caller_word(slot, word);
    if (there == 0) break;
    if (free == kCallerSlots && is_forwarded(there)) free = slot;
  }
  if (free != kCallerSlots) return write_caller_word(free, word);
  if (used_caller_slots == kMaxUsedCallerSlots) return;
  ++used_caller_slots;
  write_caller_word(slot, word);
}

void remove_among_others(uintptr_t address) {
  unsigned slot = caller_hash(address);
  for (;; slot = slot_after(slot)) {
    const uint64_t there = caller_word_at(slot);
    if (there == 0) return;
    if (there >> 16 == address) break;
  }
  if (caller_word_at(slot_after(slot)) != 0)
    return write_caller_word(slot, word_of({address, kCodeForward}));
  // The chain ends here, so no search needs this word or the removed callers directly before it.
  do {
    write_caller_word(slot, 0);
    --used_caller_slots;
    slot = slot_before(slot);
  } while (is_forwarded(caller_word_at(slot)));
}

}  // namespace halo::runtime
