// The checking build: which blocks are in use, so that freeing one twice, or what is no block, is
// said and does no harm. In the normal build there is nothing here.
#pragma once

#include "runtime/check.h"

namespace halo::runtime {

#ifdef HALO_CHECK
// `p` has been given to the program; nullptr is ignored. Returns it.
void* note_block(void* p);
// The program gives `p`, which the arena contains, back. False: it had no right to; the pointer and
// the group have been named on stderr, and nothing is to be done.
bool forget_block(const void* p);
// The program has written to what the heap keeps at `p`, in memory that is free.
void report_overwritten(const void* p);
#else
inline void* note_block(void* p) { return p; }
inline bool forget_block(const void*) { return true; }
inline void report_overwritten(const void*) {}
#endif

}  // namespace halo::runtime
