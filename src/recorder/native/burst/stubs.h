// Code by which translated blocks enter and leave the dispatcher, at the begin of the cache.
#pragma once

#include "recorder/native/burst/blocks.h"
#include "recorder/native/burst/translator.h"

namespace halo::native {

struct BurstThread;

// What the dispatcher has decided.
enum class Next : uint64_t {
  kBlock = 0,   // go on at Storage::jump, in the cache
  kNative = 1,  // the burst is over: go on at Storage::jump, with the program's signal mask
};

// While a thread waits in a paused system call, its stack has this at the stack pointer.
struct PausedCall {
  uint64_t next;    // where the program goes on behind the call
  uint64_t number;  // of the call
};

// `dispatch` is called on a stack of its own, with the thread's registers in its BurstThread.
Stubs make_stubs(BlockCache& cache, int32_t storage, Next (*dispatch)(BurstThread&));

}  // namespace halo::native
