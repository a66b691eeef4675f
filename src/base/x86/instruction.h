// The properties of an x86-64 instruction that the recorder needs, decoded once when it is
// translated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halo::x86 {

enum class Flow : uint8_t {
  kNone,
  kCall,       // its store is a return address
  kReturn,     // its load is a return address
  kMoveStack,  // loads the stack pointer from elsewhere: longjmp, a coroutine switch
};

struct InstructionFacts {
  Flow flow = Flow::kNone;
  uint8_t alignment_class = 0;  // required alignment of a memory operand: 1: 16, 2: 32, 3: 64 bytes
  bool only_stack = false;      // push, pop, or an operand relative to the stack pointer
};

InstructionFacts inspect(std::span<const uint8_t> bytes);

}  // namespace halo::x86
