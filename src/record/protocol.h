// How the guest library speaks to the recorder.
//
// Once, by a client request of Valgrind's or by a system call that no kernel has: the guest says
// where its messages will be written from (the code address of one store instruction), and learns
// whether a recorder listens. From then on each execution of that store is a message: the recorder
// is called with the address of the message and reads it. That is some fifty times cheaper than a
// system call under QEMU or a client request under Valgrind.
#pragma once

#include <cstdint>

namespace halo::record {

inline constexpr int64_t kHelloCall = 0x48414C4F;      // natively it fails with ENOSYS
inline constexpr uint64_t kHelloRequest = 0x484C0000;  // VG_USERREQ_TOOL_BASE('H', 'L')

// The argument of either. The recorder replaces the question by the answer. Whoever prepares the
// program for a measurement says `kForget` in its place: all that was recorded so far is to count
// for nothing.
struct Hello {
  static constexpr uint64_t kQuestion = 0x3F6F6C61682D6968;
  static constexpr uint64_t kAnswer = 0x216F6C61682D6968;
  static constexpr uint64_t kForget = 0x2E6F6C61682D6968;
  uint64_t word;
  uint64_t message_store;  // address of the instruction
};

enum class Report : uint64_t {
  kAlloc = 1,   // address, size, stack slot of the wrapper's return address
  kFree = 2,    // address; before the memory is given back
  kRevive = 3,  // address; the object freed last by this thread lives on
};

struct Message {
  uint64_t stored;  // by the instruction; means nothing
  Report report;
  uint64_t address;
  uint64_t size;
  uint64_t slot;
};

}  // namespace halo::record
