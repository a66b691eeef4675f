// The words of each thread that translated code and stubs use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::native {

struct BurstThread;

// In the thread's static storage, at a constant offset from the address in the segment register fs.
//
// `cursor` is where the next block's record goes. The buffer ends at a multiple of 4 GiB, and the
// same memory goes on for kOverrun bytes: so byte 3 of a cursor is 0 exactly if the buffer is full.
struct Storage {
  static constexpr uint64_t kBoundary = uint64_t{1} << 32, kOverrun = 1 << 24;
  static constexpr int kFullByte = 3;  // of `cursor`

  uint64_t base, scratch, third;  // registers that translated code uses for itself
  uint64_t cursor;
  uint64_t exit;    // the number of the exit that is taken, or -1 for `target`
  uint64_t target;  // of an indirect jump
  uint64_t jump;    // where the stub goes on
  uint64_t active;  // an Activity
  BurstThread* thread;
};

// Of a thread with regard to bursts.
enum Activity : uint64_t {
  kInactive,
  kInBurst,
  kPaused,  // in a system call behind which the burst goes on
};

// The offset of each thread's storage from the address in fs.
int32_t storage_offset();
Storage& own_storage();

}  // namespace halo::native
