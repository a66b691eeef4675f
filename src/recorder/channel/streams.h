// The shared memory between the native engine and its consumer: a ring of records for each thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/events/record.h"

namespace halo::channel {

inline constexpr uint64_t kStreamsMagic = 0x31525453'4F4C4148;  // "HALOSTR1"
// The number of threads that are recorded at a time.
inline constexpr uint32_t kStreams = 4096;
inline constexpr uint64_t kStreamRecords = 1 << 15;

// What a record of the kind kOfStream says.
enum class StreamKind : uint8_t {
  kFrame,      // a frame of the call stack; address: its slot, word1: its return address
  kStack,      // how the stack of the thread's next kAlloc differs from the one that was sent
               // before; address: how many of the outermost frames are kept, word1: how many kFrame
               // records follow, the outermost one first
  kNeedsCode,  // address: of code whose file is to be found now; the thread waits for that
  kCodeUnmapped,  // code was unmapped
  kMakesCode,     // the program maps memory for code that it generates
  kFork,  // the next descriptors on the connection belong to a forked child; the thread waits
};

// The upper bits of a kAlloc's word1: a place for the context of its stack. After a kStack, the
// consumer notes the context of that stack there; otherwise the context is the one noted there.
inline constexpr int kPlaceShift = 48;
inline constexpr uint64_t kStackPlaces = uint64_t{1} << (64 - kPlaceShift);
inline constexpr uint64_t kMaxAllocation = (uint64_t{1} << kPlaceShift) - 1;

// The records of a stream are otherwise those of events/record.h, without kContext.
//
// One thread produces, the consumer consumes; lock-free. Invariant: tail <= head <= tail +
// kStreamRecords; positions count records since the start. `head` is stored with release after the
// records before it, and `tail` after they are read. `thread` is taken by compare-and-swap from 0;
// the consumer stores 0 when that thread has ended and all of its records are consumed.
//
// A thread may hold back what it writes, from head to `written`. Meanwhile, `held` is the epoch at
// the begin of that: the consumer passes on no record that has this epoch or a later one
// (events/epoch_merge.h). It reads `held` after the epoch and before the heads. What is held back
// when the process ends is read nevertheless.
struct Stream {
  alignas(64) std::atomic<uint64_t> head;
  std::atomic<uint64_t> written;
  std::atomic<uint64_t> held;              // 0: nothing is held back
  alignas(64) std::atomic<uint64_t> tail;  // its lower half is a futex
  std::atomic<uint32_t> producer_waits;
  alignas(64) std::atomic<int32_t> thread;  // the kernel's number; 0: the stream is free
};

// The order across streams is by the epoch (events/epoch_merge.h), which is the processors' time
// stamp counter. While one stream is used, its records have none. `consumer_sleeps` is a futex that
// is 1 while the consumer waits for records.
struct StreamsHeader {
  uint64_t magic;
  std::atomic<int32_t> process;            // 0 until the process uses them
  alignas(64) std::atomic<uint32_t> used;  // streams from here on were never taken
  std::atomic<uint32_t> consumer_sleeps;
  Stream streams[kStreams];
};

inline constexpr uint64_t kStreamBytes = kStreamRecords * sizeof(events::Record);
inline constexpr uint64_t kStreamsHeaderBytes = (sizeof(StreamsHeader) + 4095) / 4096 * 4096;
inline constexpr uint64_t kStreamsBytes = kStreamsHeaderBytes + kStreams * kStreamBytes;

// `base`: the address at which the memory is mapped.
inline StreamsHeader& streams_header(void* base) { return *static_cast<StreamsHeader*>(base); }
// Of memory that is all zeroes.
inline void initialise_streams(void* base) { streams_header(base).magic = kStreamsMagic; }

// Not before what precedes it.
inline uint64_t take_epoch() {
  unsigned processor;
  return __builtin_ia32_rdtscp(&processor);
}
inline events::Record* stream_records(void* base, uint32_t stream) {
  return reinterpret_cast<events::Record*>(static_cast<char*>(base) + kStreamsHeaderBytes +
                                           stream * kStreamBytes);
}

}  // namespace halo::channel
