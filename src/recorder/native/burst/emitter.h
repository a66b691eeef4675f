// Writes x86-64 instructions. All are such that no flag changes: mov, lea, jumps.
#pragma once

#include <cstdint>

namespace halo::native {

// General registers by their numbers in instructions.
enum Register : int8_t {
  kNoRegister = -1,
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
};  // clang-format off: in rows of eight
// clang-format on

// A memory operand: base + index * scale + offset.
struct Memory {
  Register base = kNoRegister;
  Register index = kNoRegister;
  uint8_t scale = 1;
  int32_t offset = 0;
};

// `at` is where the next byte is written; the caller sees to the room.
class Emitter {
 public:
  explicit Emitter(uint8_t* at) : at_(at) {}

  uint8_t* at() const { return at_; }
  void byte(uint8_t value) { *at_++ = value; }
  void bytes(const uint8_t* from, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) byte(from[i]);
  }
  void word32(uint32_t value) {
    __builtin_memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void word64(uint64_t value) {
    __builtin_memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

  // Words of the thread's own storage, at this offset from the address in the segment register fs.
  void load_own(Register into, int32_t own) { own_word(0x8B, into, own); }
  void store_own(Register from, int32_t own) { own_word(0x89, from, own); }
  // Sign-extended.
  void store_own(int32_t own, uint32_t value) {
    prefixes_own(0x48);
    byte(0xC7);
    operand_own(0, own);
    word32(value);
  }
  void load_own_byte_into_ecx(int32_t own) {
    byte(0x64);
    byte(0x0F);
    byte(0xB6);
    operand_own(kRcx, own);
  }
  void jump_to_own(int32_t own) {
    byte(0x64);
    byte(0xFF);
    operand_own(4, own);
  }

  void load(Register into, const Memory& from) { with_memory(0x8B, into, from); }
  void store(Register from, const Memory& to) { with_memory(0x89, from, to); }
  void address(Register into, const Memory& of) { with_memory(0x8D, into, of); }
  void constant(Register into, uint64_t value) {
    if (value >> 32 != 0) {
      byte(uint8_t(0x48 | into >> 3));
      byte(uint8_t(0xB8 | (into & 7)));
      word64(value);
      return;
    }
    if (into >> 3 != 0) byte(0x41);
    byte(uint8_t(0xB8 | (into & 7)));
    word32(uint32_t(value));
  }
  // mov qword [base], value
  void store_constant(Register base, uint32_t value) {
    byte(uint8_t(0x48 | base >> 3));
    byte(0xC7);
    modrm(0, Memory{.base = base});
    word32(value);
  }
  // lea with an offset that is patched later; returns its place.
  uint8_t* address_to_patch(Register into, Register base) {
    byte(uint8_t(0x48 | (into >> 3) << 2 | base >> 3));
    byte(0x8D);
    byte(uint8_t(0x80 | (into & 7) << 3 | (base & 7)));
    if ((base & 7) == 4) byte(0x24);
    uint8_t* place = at_;
    word32(0);
    return place;
  }

  void jump(const uint8_t* to) {
    byte(0xE9);
    word32(uint32_t(to - (at_ + 4)));
  }
  // jmp [address]; the address is within 2 GiB.
  void jump_through(const void* address) {
    byte(0xFF);
    byte(0x25);
    word32(uint32_t(static_cast<const uint8_t*>(address) - (at_ + 4)));
  }
  // jcc with a target that is patched later, by patch().
  uint8_t* jump_if(uint8_t condition) {
    byte(0x0F);
    byte(uint8_t(0x80 | condition));
    word32(0);
    return at_;
  }
  uint8_t* jump_forward() {
    byte(0xE9);
    word32(0);
    return at_;
  }
  void patch(uint8_t* behind) { patch_word(behind - 4, uint32_t(at_ - behind)); }
  static void patch_word(uint8_t* place, uint32_t value) {
    __builtin_memcpy(place, &value, sizeof value);
  }
  // jrcxz over at most 127 bytes; the target is patched later, by patch_short().
  uint8_t* jump_if_rcx_is_0() {
    byte(0xE3);
    byte(0);
    return at_;
  }
  void patch_short(uint8_t* behind) { behind[-1] = uint8_t(at_ - behind); }

 private:
  void prefixes_own(uint8_t rex) {
    byte(0x64);
    byte(rex);
  }
  void operand_own(int number, int32_t own) {
    byte(uint8_t((number & 7) << 3 | 4));
    byte(0x25);
    word32(uint32_t(own));
  }
  void own_word(uint8_t operation, Register number, int32_t own) {
    prefixes_own(uint8_t(0x48 | (number >> 3) << 2));
    byte(operation);
    operand_own(number, own);
  }

  void with_memory(uint8_t operation, Register number, const Memory& memory) {
    const int index = memory.index < 0 ? 0 : memory.index >> 3;
    const int base = memory.base < 0 ? 0 : memory.base >> 3;
    byte(uint8_t(0x48 | (number >> 3) << 2 | index << 1 | base));
    byte(operation);
    modrm(number, memory);
  }
  void modrm(int number, const Memory& memory) {
    const uint8_t field = uint8_t((number & 7) << 3);
    const int logarithm = memory.scale == 8 ? 3 : memory.scale >> 1;
    const uint8_t index = uint8_t((memory.index < 0 ? 4 : memory.index & 7) << 3);
    if (memory.base < 0) {  // without a base there is a 32-bit offset
      byte(field | 4);
      byte(uint8_t(logarithm << 6 | index | 5));
      return word32(uint32_t(memory.offset));
    }
    const bool is_short = memory.offset == int8_t(memory.offset);
    const uint8_t mode = is_short ? 0x40 : 0x80;
    if (memory.index >= 0 || (memory.base & 7) == 4) {
      byte(mode | field | 4);
      byte(uint8_t(logarithm << 6 | index | (memory.base & 7)));
    } else {
      byte(uint8_t(mode | field | (memory.base & 7)));
    }
    if (is_short) {
      byte(uint8_t(memory.offset));
    } else {
      word32(uint32_t(memory.offset));
    }
  }

  uint8_t* at_;
};

}  // namespace halo::native
