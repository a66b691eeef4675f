// The callers table: the codes of all callers in the plan, which every allocation reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/exported.h"
#include "runtime/heap/group_code.h"

namespace halo::runtime {

inline constexpr unsigned kCallerSlots = 65536;

// Open addressing with linear probing. A word is (return address << 16)
// code; user addresses have 47 bits.
//
// Concurrency: one thread at a time writes, under the lock of modules.cc; any thread reads without
// a lock. Words are stored and loaded whole (release and relaxed), and a word is all that its
// reader uses of this table. A decided code is therefore valid by itself; any other is checked
// against the table of states (identify_caller).
//
// A removed caller keeps its slot with kCodeForward, until another address takes the slot or the
// slots behind it are empty. So probing never ends before a caller that is present: slots become 0
// only from the end of a chain. Readers terminate because at most `kMaxUsedCallerSlots` are in
// use.
HALO_HIDDEN extern constinit uint64_t caller_words[kCallerSlots];

// The low bits unchanged: neighbouring callers in the code are neighbours in the table.
inline unsigned caller_hash(uintptr_t caller) {
  return static_cast<unsigned>(caller % kCallerSlots);
}

inline uint64_t caller_word_at(unsigned slot) {
  return __atomic_load_n(&caller_words[slot], __ATOMIC_RELAXED);
}

// False: the caller is not in the plan. True may be a collision.
inline bool planned(const void* caller) {
  return caller_word_at(caller_hash(reinterpret_cast<uintptr_t>(caller))) != 0;
}

// The caller's code; kCodeForward if the table does not contain it.
inline CallerCode find_caller(uintptr_t caller) {
  for (unsigned slot = caller_hash(caller);; slot = (slot + 1) % kCallerSlots) {
    const uint64_t word = caller_word_at(slot);
    if (word >> 16 == caller) return static_cast<CallerCode>(word);
    if (word == 0) return kCodeForward;
  }
}

struct Caller {
  uintptr_t address;
  CallerCode code;
};

// The following functions change the table: one thread at a time.

HALO_HIDDEN extern constinit unsigned used_caller_slots;  // slots whose word is not 0
// Leaves empty slots, so that probing terminates.
inline constexpr unsigned kMaxUsedCallerSlots = kCallerSlots / 4 * 3;

constexpr uint64_t word_of(const Caller& caller) {
  return (uint64_t{caller.address} << 16) | caller.code;
}
inline void write_caller_word(unsigned slot, uint64_t word) {
  __atomic_store_n(&caller_words[slot], word, __ATOMIC_RELEASE);
}

// The general cases of add_caller and remove_caller: neighbouring slots are used.
void add_among_others(const Caller& caller);
void remove_among_others(uintptr_t address);

// Sets the caller's code; kCodeForward keeps its slot. If the table is full, the caller remains
// forwarded.
inline void add_caller(const Caller& caller) {
  const unsigned slot = caller_hash(caller.address);
  if (caller_word_at(slot) != 0 || used_caller_slots == kMaxUsedCallerSlots)
    return add_among_others(caller);
  ++used_caller_slots;
  write_caller_word(slot, word_of(caller));
}

// Forwards the caller from now on.
inline void remove_caller(uintptr_t address) {
  const unsigned slot = caller_hash(address);
  const bool is_alone = caller_word_at(slot) >> 16 == address &&
                        caller_word_at((slot + 1) % kCallerSlots) == 0 &&
                        caller_word_at((slot - 1) % kCallerSlots) == 0;
  if (!is_alone) return remove_among_others(address);
  --used_caller_slots;
  write_caller_word(slot, 0);
}

}  // namespace halo::runtime
