// The producer's end of a channel, inside the recorded process.
#pragma once

#include <cstdint>

#include "record/channel/channel.h"
#include "record/channel/word.h"

namespace halo::record::valgrind {

// The core runs one thread at a time, so nothing here is shared between threads.
class Sender {
 public:
  // Makes a channel and hands it to the consumer that listens at the socket. False where that
  // fails.
  bool connect(const char* socket_path);

  void put(channel::Word word) { *cursor_++ = word.bits(); }
  void put_raw(uint64_t word) { *cursor_++ = word; }
  // Goes on to the next chunk if this one is full: before each message, and before each
  // kMostMessageWords words of accesses.
  void make_room() {
    if (cursor_ >= full_) next_chunk();
  }
  // How many have been put, to within a chunk.
  uint64_t words() const { return chunks_ * channel::kFullWords; }
  // Returns when all that was put has been consumed.
  void drain();
  // The process's instructions are to be counted there; the consumer sees it.
  uint64_t* instruction_counter() { return &instructions_; }
  // The consumer has gone: what is put is thrown away.
  bool lost() const { return lost_; }

  // Around a fork: the child goes on with a channel of its own, served by a child of the consumer.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Ends {
    void* memory = nullptr;
    int descriptor = -1;  // of the memory
    int connection = -1;  // tells each side that the other one is there
  };

  static bool make_channel(Ends& ends);
  void start(const Ends& ends);
  void publish();
  void fill_another();
  void next_chunk();
  void wait_until_consumed(uint32_t behind);
  void lose();

  void* memory_ = nullptr;
  uint64_t chunks_ = 0;                   // that were filled
  uint32_t chunk_ = 0;                    // that is being filled
  uint32_t free_[channel::kChunks] = {};  // those that were given back, the last one last
  uint32_t free_count_ = 0;
  uint32_t unused_ = 0;         // the first that was never filled
  uint32_t reclaimed_ = 0;      // entries whose chunks are free
  uint64_t* cursor_ = nullptr;  // where the next word goes
  uint64_t* full_ = nullptr;
  uint64_t instructions_ = 0;
  int connection_ = -1;
  bool lost_ = false;
  Ends child_;
  int consumer_end_ = -1;
};

}  // namespace halo::record::valgrind
