// Translates blocks of the program's code: copies of its instructions, which also store the
// addresses of their operands in memory.
#pragma once

#include <cstdint>

#include "recorder/native/burst/blocks.h"

namespace halo::native {

// Parts of the cache that all blocks jump to, made once.
struct Stubs {
  const uint8_t* dispatch = nullptr;  // Storage::exit says where to
  const uint8_t* indirect = nullptr;  // Storage::target says where to
  const uint8_t* pause = nullptr;     // makes a system call that is followed by Storage::target
  const uint8_t* paused = nullptr;    // behind the call in `pause`
};

// Code in memory, and how it is translated.
struct CodeRange {
  uint64_t begin = 0, end = 0;
  bool may_change = false;     // not of a file, or writable
  bool is_recorder = false;    // its accesses are not recorded
  bool runs_natively = false;  // the function that begins there
};

// A block ends at a jump, a call, a return, after kMaxInstructions, or where too few registers
// would be left. It begins by spilling two registers that it does not use. `base` then points to
// its record: the number of the block, and a word for each operand; `scratch` computes their
// addresses. Return addresses on the stack are the program's own.
//
// No member is called by two threads at a time.
class Translator {
 public:
  static constexpr int kMaxInstructions = 40;
  static constexpr int kMaxWords = 60;  // of a record, when another instruction is begun

  explicit constexpr Translator(BlockCache& cache) : cache_(cache) {}

  void begin(const Stubs& stubs, int32_t storage) {
    stubs_ = stubs;
    storage_ = storage;
  }
  // Also publishes it. The cache is not full.
  Block& translate(uint64_t source, const CodeRange& range);

 private:
  struct Plan;

  void read(Plan& plan, const CodeRange& range);
  static bool choose_registers(Plan& plan);
  void emit_block(Plan& plan, Block& block);
  void emit_operands(Plan& plan, int instruction);
  void emit_copy(Plan& plan, int instruction);
  void emit_last(Plan& plan);
  void emit_system_call(Plan& plan);
  void emit_native_call(Plan& plan);
  void restore_registers(Plan& plan);
  void emit_exit(Emitter& emit, uint64_t target);

  BlockCache& cache_;
  Stubs stubs_;
  int32_t storage_ = 0;
};

}  // namespace halo::native
