// Decodes an input into a sequence of allocator operations, runs it, and checks every result
// against a shadow model.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/allocator.h"
#include "fuzz/bytes.h"
#include "fuzz/driver.h"
#include "fuzz/shadow_model.h"
#include "fuzz/worker_pool.h"

namespace halo::fuzz {

class Operations {
 public:
  Operations(Allocator& allocator, Bytes input);

  // Runs all of it, then frees the remaining blocks.
  void run();

 private:
  enum class AfterTurn { kNothing, kEndMember, kRunTogether };

  void step();
  size_t size();
  unsigned site() { return in_.below(allocator_.sites()); }
  uint8_t pattern() { return ++patterns_; }
  // False if the sequence has requested enough memory.
  bool may_request(size_t bytes);

  void allocate();
  void allocate_zeroed();
  void allocate_by_new();
  void allocate_aligned();
  void allocate_run();
  void reallocate();
  void free_one();
  void free_run();
  void free_all();
  void check_block();
  void check_all();
  void switch_member();
  void end_turn_and_thread();
  void end_turn_and_run_together();
  void arm();
  void fork_once();

  // The allocator's result, checked and filled; empty if it was allowed to refuse.
  std::optional<Block> checked(Block block, size_t alignment, unsigned faults_before);
  void take(Block block, size_t alignment, unsigned faults_before);
  void release(unsigned way, const Block& block);

  void end_member();
  void run_together();
  void burst(uint32_t seed);

  Allocator& allocator_;
  Bytes in_;
  ShadowModel model_;
  WorkerPool workers_;
  unsigned member_ = 0;
  AfterTurn after_turn_ = AfterTurn::kNothing;
  bool turn_over_ = false;
  bool last_words_ = false;
  size_t bytes_asked_ = 0;
  unsigned forks_ = 0;
  uint8_t patterns_ = 0;
  // Blocks in transfer between threads, while all run.
  std::mutex parcels_mutex_;
  std::vector<Block> parcels_;
};

// Random bytes of a random length: most sequences are short, some have thousands of operations.
Input make_operations(Random& random);

}  // namespace halo::fuzz
