// The shared memory between an engine and its consumer: chunks of words, and their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::channel {

inline constexpr uint64_t kMagic = 0x314E4843'4F4C4148;  // "HALOCHN1"
// The number of chunks by which a program may run ahead of its consumer.
inline constexpr uint32_t kChunks = 1024;
inline constexpr uint64_t kChunkBytes = 64 * 1024;
// The producer checks for room before each message; a chunk with more words is full.
inline constexpr uint64_t kMaxMessageWords = 512;
inline constexpr uint64_t kFullWords = kChunkBytes / sizeof(uint64_t) - kMaxMessageWords;

// Describes a published chunk.
struct Entry {
  uint32_t chunk;
  uint32_t words;
};

// One producer process and one consumer process. The producer fills a chunk without synchronisation
// and publishes it as entry `published % kChunks`. The consumer reads the chunk of entry `consumed
// % kChunks` and then returns it. The producer fills the most recently returned chunk: if the
// consumer keeps up, only few chunks are in use, and they stay in the caches.
//
// Invariant: consumed <= published <= consumed + kChunks - 1, so that one chunk is always left to
// fill. An entry and its chunk's contents are written before `published` passes it (release), and
// read afterwards (acquire). Both counters only grow, and wrap. They are futexes: a process that
// waits for one first sets the flag beside it, and then reads the counter again.
struct Header {
  uint64_t magic;  // written last
  int32_t pid;     // of the recorded process
  // Number of instructions that the process had executed when the last chunk was published; 0 if
  // not counted.
  std::atomic<uint64_t> instructions;
  alignas(64) std::atomic<uint32_t> published;
  std::atomic<uint32_t> consumer_waits;
  alignas(64) std::atomic<uint32_t> consumed;
  std::atomic<uint32_t> producer_waits;
  alignas(64) Entry entries[kChunks];
};

inline constexpr uint64_t kHeaderBytes = 12288;
inline constexpr uint64_t kChannelBytes = kHeaderBytes + kChunks * kChunkBytes;
static_assert(sizeof(Header) <= kHeaderBytes);

// `base`: the address at which the channel is mapped.
inline Header& header(void* base) { return *static_cast<Header*>(base); }
inline uint64_t* chunk(void* base, uint32_t number) {
  return reinterpret_cast<uint64_t*>(static_cast<char*>(base) + kHeaderBytes +
                                     number * kChunkBytes);
}

}  // namespace halo::channel
