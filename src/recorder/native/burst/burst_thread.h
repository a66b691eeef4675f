// The state of a thread that has bursts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::native {

// In memory of its own, not in the thread's static storage, which is small.
struct BurstThread {
  static constexpr uint64_t kStackBytes = 64 << 10;
  static constexpr uint64_t kVectorBytes = 12 << 10;  // also with AMX

  uint64_t registers[16];  // the program's, while the dispatcher runs; by number
  uint64_t program_mask;   // of signals, outside of bursts
  uint64_t burst_mask;     // in them
  uint64_t buffer_end;     // a multiple of Storage::kBoundary
  uint64_t buffer_begin;   // of what is to be recorded before the burst ends
  uint64_t first_word;     // of the buffer, as far as the burst uses it
  uint64_t done_words;     // of the burst, before the present contents of the buffer
  uint64_t words_left;     // behind them
  bool is_over;            // the thread has no more bursts
  alignas(64) uint8_t vectors[kVectorBytes];
  alignas(64) uint8_t stack[kStackBytes];
  uint64_t top[8];  // of the stack
};

}  // namespace halo::native
