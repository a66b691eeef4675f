// The producer's side of a channel, inside the recorded process.
#pragma once

#include <cstdint>

#include "recorder/channel/channel.h"
#include "recorder/channel/word.h"

namespace halo::valgrind {

// The core runs one thread at a time, so its members are not shared between threads.
class Sender {
 public:
  // Creates a channel and sends it to the consumer that listens at the socket. Returns false on
  // failure.
  bool connect(const char* socket_path);

  void put(channel::Word word) { *cursor_++ = word.bits(); }
  void put_raw(uint64_t word) { *cursor_++ = word; }
  // Continues with the next chunk if this one is full. Called before each message, and before each
  // kMaxMessageWords words of accesses.
  void make_room() {
    if (cursor_ >= full_) next_chunk();
  }
  // The number of words sent, to within a chunk.
  uint64_t words() const { return chunks_ * channel::kFullWords; }
  // Returns when the consumer has consumed all words.
  void drain();
  // The counter of the process's instructions, which the consumer reads.
  uint64_t* instruction_counter() { return &instructions_; }
  // The consumer has disconnected: further words are dropped.
  bool lost() const { return lost_; }

  // Called around a fork: the child continues with its own channel and consumer process.
  // `after_fork_in_parent` also after a fork that failed; without one it does nothing.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Ends {
    void* memory = nullptr;
    int descriptor = -1;  // of the memory
    int connection = -1;  // ends for each side when the other one exits
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
  uint32_t chunk_ = 0;                    // being filled
  uint32_t free_[channel::kChunks] = {};  // returned chunks, the last one last
  uint32_t free_count_ = 0;
  uint32_t unused_ = 0;         // the first one that was never filled
  uint32_t reclaimed_ = 0;      // entries whose chunks are free
  uint64_t* cursor_ = nullptr;  // position of the next word
  uint64_t* full_ = nullptr;
  uint64_t instructions_ = 0;
  int connection_ = -1;
  bool lost_ = false;
  Ends child_;
  int consumer_end_ = -1;
};

}  // namespace halo::valgrind
