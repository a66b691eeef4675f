// Instruments superblocks of translated code: their accesses, calls and returns.
#pragma once

#include <cstdint>

#include "recorder/valgrind/access_lists.h"
#include "recorder/valgrind/api.h"

namespace halo::valgrind {

// The options of the instrumentation, and the functions that it calls.
//
// Each access stores its address in the thread's words, and each exit stores the name of these
// accesses. The next superblock with accesses calls `collect`, if accesses are being recorded or a
// burst is due. Otherwise an access costs little more than a store, and a superblock one branch.
// Calls and returns are stored separately (pending_calls.h).
struct Translation {
  // All receive the register state of the running thread. `take_message` is called for a report of
  // the guest library (protocol.h). `take_return` is called for a return that does not match the
  // last pending call, which is removed before.
  void (*collect)(void* registers);
  void (*take_message)(void* registers, uint64_t message);
  void (*take_return)(void* registers, uint64_t slot);
  // Called when the program sets a rounding mode of SSE other than to the nearest value.
  void (*report_rounding)();

  bool exact = false;                // else consecutive accesses through one register count as one
  bool all_accesses = false;         // also those to the stack; each with its code address
  uint64_t* instructions = nullptr;  // counter; null: not counted
  uint64_t message_store = 0;
  uint64_t guest_begin = 0, guest_end = 0;  // the guest library's code is not part of the program

  // `return_address`: the current return address of the running function; 0 if unknown.
  IRSB* instrument(IRSB* in, const VexGuestLayout& layout, AccessLists& lists,
                   uint64_t return_address) const;
};

}  // namespace halo::valgrind
