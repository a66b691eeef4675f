// How the caller's registers are found at a code address.
#pragma once

#include <cstdint>

namespace halo::native {

// A row of a call frame table (DWARF 5, section 6.4), reduced to what a walk needs: the canonical
// frame address (CFA), above whose return address the caller's stack begins, and the caller's rbp.
struct Row {
  // What the CFA is computed from.
  enum class Base : uint8_t {
    kUnknown,        // there is no row, or it needs another register: the walk ends
    kNoModule,       // no module has code there
    kOutermost,      // the return address is undefined: there is no caller
    kStack,          // rsp + offset
    kFrame,          // rbp + offset
    kStoredAtFrame,  // the word at rbp + offset
    kSignal,         // the frame of a signal: registers are in its ucontext
  };
  // Where the caller's rbp is.
  enum class Saved : uint8_t {
    kNot,      // still in rbp
    kAtCfa,    // the word at the CFA + frame_at
    kAtFrame,  // the word at rbp + frame_at
  };

  Base base = Base::kUnknown;
  Saved saved = Saved::kNot;
  int16_t frame_at = 0;
  int32_t offset = 0;
};
static_assert(sizeof(Row) == 8);

}  // namespace halo::native
