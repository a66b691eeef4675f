// Tells x86-64 instructions that transfer control from others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halo::golden {

inline bool is_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xF0:
    case 0xF2:
    case 0xF3:
      return true;
    default:
      return (byte & 0xF0) == 0x40;  // REX
  }
}

// True for jumps, conditional or not, for calls and for returns.
inline bool is_branch(std::span<const std::uint8_t> instruction) {
  while (!instruction.empty() && is_prefix(instruction[0])) instruction = instruction.subspan(1);
  if (instruction.empty()) return false;
  const std::uint8_t opcode = instruction[0];
  const std::uint8_t second = instruction.size() > 1 ? instruction[1] : 0;
  switch (opcode) {
    case 0x0F:
      return (second & 0xF0) == 0x80;  // conditional, 32-bit distance
    case 0xE0:                         // loopne, loope, loop, jrcxz
    case 0xE1:
    case 0xE2:
    case 0xE3:
    case 0xE8:  // call
    case 0xE9:  // jmp
    case 0xEB:  // jmp
    case 0xC2:  // ret
    case 0xC3:  // ret
      return true;
    case 0xFF: {
      const unsigned which = second >> 3 & 7u;
      return which >= 2 && which <= 5;  // indirect call and jmp
    }
    default:
      return (opcode & 0xF0) == 0x70;  // conditional, 8-bit distance
  }
}

}  // namespace halo::golden
