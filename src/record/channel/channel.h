// The shared memory between an engine and its consumer: chunks of words, and the order to read them
// in.
//
// One producer and one consumer process. The producer fills a chunk without telling anybody, then
// publishes it as entry `published % kChunks`; the consumer empties that of entry
// `consumed % kChunks`, then gives it back. The producer fills the chunk that was given back last:
// where the consumer keeps up, few chunks are used, and these stay in the caches. Invariants:
// consumed <= published <= consumed + kChunks - 1, so that one is always left to be filled; an
// entry and its chunk's contents are written before `published` passes it (release) and read after
// (acquire). Both counters only grow, and wrap. They are futexes: who waits for one sets the flag
// beside it first, and looks again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halo::record::channel {

inline constexpr uint64_t kMagic = 0x314E4843'4F4C4148;  // "HALOCHN1"
// A program that begins with many accesses runs ahead of its consumer by so many chunks.
inline constexpr uint32_t kChunks = 1024;
inline constexpr uint64_t kChunkBytes = 64 * 1024;
// The producer looks for room before each message: from here on a chunk is full.
inline constexpr uint64_t kMostMessageWords = 512;
inline constexpr uint64_t kFullWords = kChunkBytes / sizeof(uint64_t) - kMostMessageWords;

// Of a published chunk.
struct Entry {
  uint32_t chunk;
  uint32_t words;
};

struct Header {
  uint64_t magic;  // written last
  int32_t pid;     // of the recorded process
  // That the process has executed, when the last chunk was published; 0: they are not counted.
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

// `base`: where the channel is mapped.
inline Header& header(void* base) { return *static_cast<Header*>(base); }
inline uint64_t* chunk(void* base, uint32_t number) {
  return reinterpret_cast<uint64_t*>(static_cast<char*>(base) + kHeaderBytes +
                                     number * kChunkBytes);
}

}  // namespace halo::record::channel
