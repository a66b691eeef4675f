// The protocol between the guest library and the recorder.
#pragma once

#include <cstdint>

namespace halo::interpose {

inline constexpr uint64_t kHelloRequest = 0x484C0000;  // VG_USERREQ_TOOL_BASE('H', 'L')

// The guest sends one hello, as a Valgrind client request. It contains the code address of the
// store instruction that writes its messages; the reply states whether a recorder is attached. From
// then on each execution of that store is a message: the recorder is called with the address of the
// message and reads it. This is some fifty times cheaper than a client request.
//
// The argument of the request. The recorder replaces the question by the answer. A library that
// prepares the program for a measurement sends `kReset` instead: all events recorded so far are
// then dropped.
struct Hello {
  static constexpr uint64_t kQuestion = 0x3F6F6C61682D6968;
  static constexpr uint64_t kAnswer = 0x216F6C61682D6968;
  static constexpr uint64_t kReset = 0x2E6F6C61682D6968;
  uint64_t word;
  uint64_t message_store;  // address of the instruction
};

enum class Report : uint64_t {
  kAlloc = 1,        // address, size, stack slot of the wrapper's return address
  kFree = 2,         // address; before the memory is freed
  kRevive = 3,       // address; cancels this thread's last free
  kAligned = 4,      // address of the allocation before: its request had an alignment of its own
  kReallocated = 5,  // address of the allocation before: it replaces this thread's last free
};

struct Message {
  uint64_t stored;  // written by the instruction; has no meaning
  Report report;
  uint64_t address;
  uint64_t size;
  uint64_t slot;
};

}  // namespace halo::interpose
