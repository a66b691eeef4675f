// Threads that make a block, write to it many times and free it, over and over: it is fast if no
// two of them have blocks in the same cache line.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "common/args.h"
#include "common/stress.h"

namespace stress {

struct Writing {
  long threads;
  long blocks;  // of each thread
  size_t bytes;
  long writes;  // to each byte of a block
  long rest;

  uint64_t operations() const { return 2 * static_cast<uint64_t>(threads * blocks); }
};

inline Writing read_writing(int argc, char** argv) {
  Argument arguments[] = {{"threads", 1, 64, 0},
                          {"blocks of a thread", 0, 1000000000, 0},
                          {"bytes", 1, 1 << 20, 0},
                          {"writes to each byte", 0, 1000000, 0},
                          {"rest in ms", 0, 10000, 0}};
  read_arguments(argc, argv, arguments, 5);
  return {arguments[0].value, arguments[1].value, static_cast<size_t>(arguments[2].value),
          arguments[3].value, arguments[4].value};
}

// Volatile: each write is to reach the cache.
inline void write_repeatedly(void* block, const Writing& writing) {
  auto* bytes = static_cast<volatile char*>(block);
  for (long i = 0; i < writing.writes; ++i) {
    for (size_t at = 0; at < writing.bytes; ++at) {
      bytes[at] = static_cast<char>(bytes[at] + 1);
    }
  }
}

// A thread frees the block that it was given, if any, before it makes its own.
inline void make_and_write(void* given, const Writing& writing) {
  std::free(given);
  for (long i = 0; i < writing.blocks; ++i) {
    void* block = make_block(writing.bytes);
    write_repeatedly(block, writing);
    std::free(block);
  }
}

// The time until all threads have ended; `given` has a block for each thread.
inline Stopwatch run_writers(Blocks& given, const Writing& writing) {
  std::vector<std::thread> threads;
  Stopwatch spent;
  spent.start();
  for (void* block : given) {
    threads.emplace_back(make_and_write, block, std::cref(writing));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  spent.stop();
  return spent;
}

}  // namespace stress
