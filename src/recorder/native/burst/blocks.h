// Translated blocks, and the memory that they live in.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/native/burst/emitter.h"

namespace halo::native {

// An operand in memory whose address a block stores. Repeated string instructions store the count
// as well, in the word before.
struct Operand {
  uint32_t at;   // bytes of the instruction from the block's begin
  uint8_t size;  // bytes, up to 64
  uint8_t alignment_class;
  bool load, store;
  bool repeated;
};

// Where an instruction's translation begins, for faults in it.
struct Place {
  uint16_t code;    // bytes from the block's translation
  uint16_t source;  // bytes from the block's begin
};

struct Block {
  uint64_t source = 0;            // address of the program's code
  const uint8_t* code = nullptr;  // its translation; null if there is none: the burst ends there
  Block* next = nullptr;          // with the same hash
  const Operand* operands = nullptr;
  const Place* places = nullptr;
  uint32_t code_bytes = 0;
  uint16_t operand_count = 0;
  uint16_t place_count = 0;
  uint16_t words = 0;  // of the record of one execution: one for the block, and its operands'
  Register base = kNoRegister, scratch = kNoRegister;  // that hold other values than the program's
  bool is_system_call = false;
};

// A jump from one block to another. It goes to `code`: first a stub that asks the dispatcher, and
// later the other block.
struct Exit {
  uint64_t target;
  std::atomic<const uint8_t*> code;
};

// Memory for blocks. It only grows; `clear` empties it, which requires that no thread is in a
// burst.
//
// Any thread reads without a lock; one at a time, under the lock of bursts.cc, adds. A block is
// complete before it is published in the table (release).
class BlockCache {
 public:
  static constexpr uint64_t kCodeBytes = 64 << 20;
  static constexpr uint32_t kMaxExits = 1 << 20, kMaxBlocks = 1 << 19;
  static constexpr uint32_t kMaxOperands = 1 << 21, kMaxPlaces = 1 << 21;
  static constexpr int kTableBits = 18, kTargetBits = 16;

  // Maps the memory. Returns false if it is refused.
  bool map();
  bool contains(uint64_t code) const {
    return code - reinterpret_cast<uint64_t>(code_) < kCodeBytes;
  }
  // Whether there may be too little room for another block.
  bool is_full() const;
  void clear();

  Block* find(uint64_t source) const {
    Block* block = table_[hash(source)].load(std::memory_order_acquire);
    while (block != nullptr && block->source != source) block = block->next;
    return block;
  }
  // The block with that place in the code; null if there is none.
  const Block* containing(uint64_t code) const;
  Block& number(uint32_t block) { return blocks_[block]; }
  uint32_t number_of(const Block& block) const { return uint32_t(&block - blocks_); }

  // The next block, whose parts are added to before it is published.
  Block& begin_block(uint64_t source);
  void publish(Block& block);
  Exit& add_exit(uint64_t target) {
    Exit& exit = exits_[exit_count_++];
    exit.target = target;
    return exit;
  }
  Exit& exit(uint32_t number) { return exits_[number]; }
  uint32_t number_of(const Exit& exit) const { return uint32_t(&exit - exits_); }
  Operand* next_operand() { return operands_ + operand_count_; }
  Place* next_place() { return places_ + place_count_; }

  // Targets of indirect jumps by their lower bits; never null: kNowhere has no source.
  std::atomic<Block*>* targets() { return targets_; }
  static uint64_t target_index(uint64_t source) { return source & ((1u << kTargetBits) - 1); }

  // Code that is not of a block, at the begin of the cache.
  uint8_t* code() const { return code_; }
  uint8_t* next_code() const { return next_; }
  void keep_stubs(uint8_t* end) { first_ = next_ = end; }

 private:
  static uint64_t hash(uint64_t source) {
    return (source ^ source >> kTableBits) & ((1u << kTableBits) - 1);
  }

  uint8_t* code_ = nullptr;
  uint8_t* first_ = nullptr;  // behind the stubs
  uint8_t* next_ = nullptr;
  Exit* exits_ = nullptr;
  Block* blocks_ = nullptr;
  Operand* operands_ = nullptr;
  Place* places_ = nullptr;
  std::atomic<Block*>* table_ = nullptr;
  std::atomic<Block*>* targets_ = nullptr;
  uint32_t exit_count_ = 0, block_count_ = 0, operand_count_ = 0, place_count_ = 0;
};

}  // namespace halo::native
