// The compact plan's rules for hints, as docs/plan-format.md defines them: where the values are, at
// a call of the allocator, by which the new object is placed.
#pragma once

#include <cstdint>

namespace halo::plan {

inline constexpr std::uint32_t hint_version = 5;  // has hint rules
inline constexpr std::uint32_t max_hint_rules = 4096;
inline constexpr std::uint32_t max_hint_keys = 4;  // of a rule
inline constexpr std::uint32_t max_hint_contexts = 64;
inline constexpr std::uint32_t max_hint_operations = 24;  // of a key
inline constexpr std::uint32_t max_hint_depth = 4;        // values on the stack of a program
inline constexpr std::uint32_t max_hint_bytes = 1024;     // of an object
inline constexpr std::uint32_t max_hint_behind = 65528;
inline constexpr std::uint32_t hint_kinds = 10;  // i8, u8, i16, ... u64, f32, f64
inline constexpr std::uint32_t hint_registers = 6;
inline constexpr std::uint32_t hint_signed_load = 0x80;
inline constexpr std::uint32_t max_hint_shift = 3;

// `hint_by_size`: blocks are aligned by their size, to 8 or 16 bytes, while all code of the process
// allows that; else to 16.
enum HintRuleFlag : std::uint32_t { hint_avoids_frame = 1, hint_by_size = 2 };
inline constexpr std::uint32_t hint_flags = hint_avoids_frame | hint_by_size;

// What an operation of a key's program does to its stack of 64-bit values.
enum class HintCode : std::uint8_t {
  push_register = 0,  // parameter: 0 to 5 for rbx, rbp, r12, r13, r14, r15, as at the call
  push_frame = 1,     // the address of the return address's slot, plus 8 and `value`
  push_image = 2,     // the module's load bias, plus `value` (unsigned)
  load = 3,  // an address becomes what is at it plus `value`; parameter: the width, 1, 2, 4
             // or 8, with hint_signed_load if its sign is extended
  add = 4,   // an index and the base below it become base + (index << parameter)
  push_constant = 5,  // `value`
  extend = 6,         // the low bytes of a value, extended; parameter: as of load
  combine = 7,        // `b`, and `a` below it, become one value; parameter: a HintFunction
  convert = 8,        // parameter: 4 * the HintType of a value + that which it becomes
};

// Results of `combine`, modulo 2^64; of reals, the bits of the result.
enum class HintFunction : std::uint8_t {
  subtract = 0,     // a - b
  multiply = 1,     // a * b
  bit_and = 2,      // a & b
  bit_or = 3,       // a | b
  bit_xor = 4,      // a ^ b
  shift_left = 5,   // a << b, by the low 6 bits of b
  shift_right = 6,  // a >> b, by zeros
  shift_sign = 7,   // a >> b, by the sign
  add_f32 = 8,      // a + b, of the low 4 bytes; the upper ones become 0
  subtract_f32 = 9,
  multiply_f32 = 10,
  divide_f32 = 11,
  add_f64 = 12,  // a + b
  subtract_f64 = 13,
  multiply_f64 = 14,
  divide_f64 = 15,
};
inline constexpr std::uint32_t hint_functions = 16;

// Types of `convert`, at least one of which is real. i32 and f32 are the low 4 bytes of a value,
// and make a value with upper bytes of 0. Integers become the nearest reals, and reals are
// truncated. A real outside the range of an integer becomes its least value.
enum class HintType : std::uint8_t { i32 = 0, i64 = 1, f32 = 2, f64 = 3 };
inline constexpr std::uint32_t hint_types = 4;

// Follows the Header.
struct HintHeader {
  std::uint32_t rules;
  std::uint32_t keys;
  std::uint32_t operations;
  std::uint32_t reserved;
};
static_assert(sizeof(HintHeader) == 16);

// Of one call site. Its keys follow those of the rule before.
struct HintRule {
  std::uint64_t offset;  // of the return address, from the module's load bias
  std::uint32_t module;
  std::uint32_t bytes;        // only requests of that many
  std::uint32_t frame_bytes;  // from the stack pointer at the return up to the caller's frame's end
  std::uint32_t context;      // objects of rules with the same one share memory
  std::uint32_t keys;
  std::uint32_t flags;
};
static_assert(sizeof(HintRule) == 32);

// A value of the new object, whose interval of that width is a part of the hint. Its operations
// follow those of the key before.
struct HintKey {
  double width;
  std::uint32_t kind;   // of hint_kinds
  std::int32_t behind;  // bytes from where the value points to the one that counts; -1: itself
  std::uint32_t operations;
  std::uint32_t reserved;
};
static_assert(sizeof(HintKey) == 24);

struct HintOperation {
  HintCode code;
  std::uint8_t parameter;
  std::uint16_t reserved;
  std::int32_t value;
};
static_assert(sizeof(HintOperation) == 8);

}  // namespace halo::plan
