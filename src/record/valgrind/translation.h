// Adds to each superblock of translated code what tells of its accesses, calls and returns.
#pragma once

#include <cstdint>

#include "record/valgrind/access_lists.h"
#include "record/valgrind/api.h"

namespace halo::record::valgrind {

// How superblocks are instrumented, and what they call.
//
// Each access leaves its address in the thread's words, and each exit which accesses these were.
// The next superblock with accesses has them collected, if accesses are recorded at the moment or a
// burst is to begin: else an access costs little more than a store, and a superblock one branch.
// Calls and returns are kept apart (pending_calls.h).
struct Translation {
  // All get the register state of the running thread. `take_message` is called where the guest
  // library reports an allocation (protocol.h), `take_return` where a return does not match the
  // last pending call, which is taken away by then.
  void (*collect)(void* registers);
  void (*take_message)(void* registers, uint64_t message);
  void (*take_return)(void* registers, uint64_t slot);

  bool exact = false;                // else consecutive accesses through one register become one
  bool all_accesses = false;         // also those to the stack; each with its code address
  uint64_t* instructions = nullptr;  // where they are counted; null: nowhere
  uint64_t message_store = 0;
  uint64_t guest_begin = 0, guest_end = 0;  // the guest library's code is no part of the program

  // `return_address`: where the running function will return to this time; 0 where that is not
  // known.
  IRSB* instrument(IRSB* in, const VexGuestLayout& layout, AccessLists& lists,
                   uint64_t return_address) const;
};

}  // namespace halo::record::valgrind
