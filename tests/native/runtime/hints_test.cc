// Programs of hint rules: what they compute, and that no rule and no register makes them fault.
#include <gtest/gtest.h>
#include <immintrin.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "plan/check_hints.h"
#include "runtime/hints/compiled.h"
#include "runtime/hints/intervals.h"
#include "runtime/hints/program.h"
#include "runtime/hints/readable.h"
#include "tidy/values.h"

namespace halo::runtime {
namespace {

using plan::HintCode;
using plan::HintOperation;
using Program = std::vector<HintOperation>;

constexpr std::size_t page_bytes = 4096;
constexpr HintOperation from_register(std::uint8_t number) {
  return {HintCode::push_register, number, 0, 0};
}
constexpr HintOperation from_frame(std::int32_t at) { return {HintCode::push_frame, 0, 0, at}; }
constexpr HintOperation from_image(std::int32_t at) { return {HintCode::push_image, 0, 0, at}; }
constexpr HintOperation constant(std::int32_t value) {
  return {HintCode::push_constant, 0, 0, value};
}
constexpr HintOperation load(std::uint8_t width, std::int32_t at = 0) {
  return {HintCode::load, width, 0, at};
}
constexpr HintOperation add(std::uint8_t shift) { return {HintCode::add, shift, 0, 0}; }

constexpr HintOperation extend(std::uint8_t width) { return {HintCode::extend, width, 0, 0}; }
constexpr HintOperation combine(plan::HintFunction function) {
  return {HintCode::combine, static_cast<std::uint8_t>(function), 0, 0};
}
constexpr HintOperation convert(plan::HintType from, plan::HintType to) {
  return {HintCode::convert,
          static_cast<std::uint8_t>(4 * static_cast<unsigned>(from) + static_cast<unsigned>(to)), 0,
          0};
}

std::uint64_t word(const void* p) { return std::bit_cast<std::uint64_t>(p); }

// Two pages, of which the second may not be accessed.
class Fenced {
 public:
  Fenced()
      : pages_(static_cast<char*>(mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(fence(), page_bytes, PROT_NONE);
  }
  ~Fenced() { munmap(pages_, 2 * page_bytes); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  char* fence() const { return pages_ + page_bytes; }

 private:
  char* pages_;
};

// A call whose caller's frame has eight words behind the return address.
struct Call {
  std::optional<std::uint64_t> run(const Program& program, std::uint32_t flags = 0) {
    plan::HintRule rule{};
    rule.frame_bytes = 64;
    rule.flags = flags;
    std::uint64_t result = 0;
    const bool is_known = run_program(program, rule, bias, {registers, frame}, result);
    // The form that runs gives the same.
    CompiledProgram compiled(program, rule);
    std::uint64_t again = 0;
    EXPECT_EQ(compiled.run(bias, {registers, frame}, again), is_known);
    EXPECT_EQ(again, result);
    EXPECT_FALSE(gives(compiled, result) && !is_known);
    EXPECT_FALSE(gives(compiled, result + 1));
    return is_known ? std::optional(result) : std::nullopt;
  }
  bool gives(const CompiledProgram& compiled, std::uint64_t value) const {
    return compiled.is_quick() && compiled.gives(value, {registers, frame});
  }
  std::uint64_t registers[plan::hint_registers] = {10, 11, 12, 13, 14, 15};
  std::uintptr_t frame[9] = {0xdead, 1, 2, 3, 4, 5, 6, 7, 8};
  std::uintptr_t bias = 0;
};

TEST(Programs, ReadRegistersFramesAndMemory) {
  Call call;
  EXPECT_EQ(call.run({from_register(0)}), 10u);
  EXPECT_EQ(call.run({from_register(5)}), 15u);
  EXPECT_EQ(call.run({from_frame(16), load(8)}), 3u);
  EXPECT_EQ(call.run({from_frame(0), load(8, 8)}), 2u);
  EXPECT_EQ(call.run({constant(-3)}), ~std::uint64_t{0} - 2);
  EXPECT_EQ(call.run({constant(7), from_register(1), add(3)}), 7u + 11 * 8);
  const std::uint64_t there[] = {100, 0x8070605040302010, 300};
  call.registers[2] = word(there);
  EXPECT_EQ(call.run({from_register(2), load(8, 16)}), 300u);
  EXPECT_EQ(call.run({from_register(2), load(4, 8)}), 0x40302010u);
  EXPECT_EQ(call.run({from_register(2), load(1, 15)}), 0x80u);
  EXPECT_EQ(call.run({from_register(2), load(1 | plan::hint_signed_load, 15)}),
            ~std::uint64_t{0x7f});
  EXPECT_EQ(call.run({from_register(2), load(2 | plan::hint_signed_load, 8)}), 0x2010u);
  // base[index]
  call.registers[3] = 2;
  EXPECT_EQ(call.run({from_register(2), from_register(3), add(3), load(8)}), 300u);
  call.bias = word(there) - 8;
  EXPECT_EQ(call.run({from_image(8), load(8)}), 100u);
}

// Integers by an operation on two registers.
TEST(Programs, ComputeWithIntegers) {
  using enum plan::HintFunction;
  Call call;
  const auto of = [&call](std::uint64_t a, plan::HintFunction function, std::uint64_t b) {
    call.registers[0] = a;
    call.registers[1] = b;
    return call.run({from_register(0), from_register(1), combine(function)});
  };
  constexpr std::uint64_t top = std::uint64_t{1} << 63;
  EXPECT_EQ(of(3, subtract, 5), ~std::uint64_t{1});
  EXPECT_EQ(of(top + 3, multiply, 5), top + 15);
  EXPECT_EQ(of(0b1100, bit_and, 0b1010), 0b1000u);
  EXPECT_EQ(of(0b1100, bit_or, 0b1010), 0b1110u);
  EXPECT_EQ(of(0b1100, bit_xor, 0b1010), 0b0110u);
  EXPECT_EQ(of(3, shift_left, 63), top);
  EXPECT_EQ(of(3, shift_left, 65), 6u);
  EXPECT_EQ(of(top, shift_right, 62), 2u);
  EXPECT_EQ(of(top, shift_sign, 62), ~std::uint64_t{1});
  call.registers[2] = 0x1234'5678'9abc'def0;
  EXPECT_EQ(call.run({from_register(2), extend(1)}), 0xf0u);
  EXPECT_EQ(call.run({from_register(2), extend(4)}), 0x9abc'def0u);
  EXPECT_EQ(call.run({from_register(2), extend(2 | plan::hint_signed_load)}),
            0xffff'ffff'ffff'def0u);
}

TEST(Programs, ComputeWithReals) {
  using enum plan::HintFunction;
  Call call;
  const auto of = [&call](auto a, plan::HintFunction function, auto b) {
    using Bits = std::conditional_t<sizeof a == 4, std::uint32_t, std::uint64_t>;
    constexpr std::uint64_t rest = sizeof a == 4 ? 0xffff'ffff'0000'0000 : 0;
    call.registers[0] = std::bit_cast<Bits>(a) | rest;
    call.registers[1] = std::bit_cast<Bits>(b) | rest;
    const auto found = call.run({from_register(0), from_register(1), combine(function)});
    EXPECT_EQ(*found & rest, 0u);
    return std::bit_cast<decltype(a)>(static_cast<Bits>(*found));
  };
  EXPECT_EQ(of(1.5, add_f64, 0.25), 1.75);
  EXPECT_EQ(of(1.5, subtract_f64, 0.25), 1.25);
  EXPECT_EQ(of(1.5, multiply_f64, 0.25), 0.375);
  EXPECT_EQ(of(1.5, divide_f64, 0.25), 6.0);
  EXPECT_EQ(of(1.0, divide_f64, 0.0), HUGE_VAL);
  EXPECT_EQ(of(1.5f, add_f32, 0.25f), 1.75f);
  EXPECT_EQ(of(1.5f, subtract_f32, 0.25f), 1.25f);
  EXPECT_EQ(of(1.5f, multiply_f32, 0.25f), 0.375f);
  EXPECT_EQ(of(1.5f, divide_f32, 0.25f), 6.0f);
}

TEST(Programs, ConvertAsTheProcessorDoes) {
  using enum plan::HintType;
  Call call;
  const auto of = [&call](std::uint64_t bits, plan::HintType from, plan::HintType to) {
    call.registers[0] = bits;
    return call.run({from_register(0), convert(from, to)});
  };
  const auto f64_bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const auto f32_bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_EQ(of(0x7'ffff'fffe, i32, f64), f64_bits(-2));
  EXPECT_EQ(of(0x7'ffff'fffe, i64, f64), f64_bits(34359738366.0));
  EXPECT_EQ(of(0x7'ffff'fffe, i32, f32), f32_bits(-2));
  EXPECT_EQ(of(std::uint64_t{1} << 40, i64, f32), f32_bits(1099511627776.0f));
  EXPECT_EQ(of(f64_bits(-2.75), f64, i32), 0xffff'fffeu);
  EXPECT_EQ(of(f64_bits(-2.75), f64, i64), ~std::uint64_t{1});
  EXPECT_EQ(of(f32_bits(-2.75f), f32, i32), 0xffff'fffeu);
  EXPECT_EQ(of(f32_bits(-2.75f), f32, i64), ~std::uint64_t{1});
  EXPECT_EQ(of(f64_bits(0.1), f64, f32), f32_bits(0.1f));
  EXPECT_EQ(of(f32_bits(0.1f), f32, f64), f64_bits(double{0.1f}));
  for (const double out : {1e300, -1e300, std::nan("")}) {
    EXPECT_EQ(of(f64_bits(out), f64, i32), 0x8000'0000u);
    EXPECT_EQ(of(f64_bits(out), f64, i64), std::uint64_t{1} << 63);
  }
}

TEST(Programs, KeepTheFloatingPointEnvironment) {
  Call call;
  call.registers[0] = std::bit_cast<std::uint64_t>(1.0);
  call.registers[1] = std::bit_cast<std::uint64_t>(3.0);
  const Program third = {from_register(0), from_register(1),
                         combine(plan::HintFunction::divide_f64)};
  const Program whole = {from_register(2), convert(plan::HintType::i64, plan::HintType::f32)};
  call.registers[2] = (std::uint64_t{1} << 60) + 1;
  const plan::HintRule rule{};
  CompiledProgram divides(third, rule), converts(whole, rule);
  const unsigned before = _mm_getcsr();
  constexpr unsigned own = 0x4F80;  // rounds up, and inexact results trap
  std::uint64_t quotient = 0, converted = 0;
  _mm_setcsr(own);
  const bool are_known = divides.run(0, {call.registers, call.frame}, quotient) &&
                         converts.run(0, {call.registers, call.frame}, converted);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_TRUE(are_known);
  EXPECT_EQ(after, own);
  EXPECT_EQ(quotient, std::bit_cast<std::uint64_t>(1.0 / 3));
  EXPECT_EQ(converted, std::bit_cast<std::uint32_t>(0x1p60f));
}

TEST(Programs, DoNotFollowPointersIntoAFrameThatIsWritten) {
  Call call;
  call.registers[0] = word(&call.frame[3]);
  const Program pointer = {from_register(0), load(8)};
  EXPECT_EQ(call.run(pointer), 3u);
  EXPECT_EQ(call.run(pointer, plan::hint_avoids_frame), std::nullopt);
  EXPECT_EQ(call.run({from_frame(16), load(8)}, plan::hint_avoids_frame), 3u);
  call.registers[0] = word(call.frame + 9);
  std::uint64_t behind = 0;
  call.registers[0] = word(&behind);
  EXPECT_EQ(call.run(pointer, plan::hint_avoids_frame).has_value(),
            word(&behind) + 8 <= word(call.frame + 1) || word(&behind) >= word(call.frame + 9));
}

TEST(Programs, DoNotReadUnreadableMemory) {
  Call call;
  const Fenced fenced;
  const std::uint64_t bad[] = {0,
                               1,
                               4095,
                               word(fenced.fence()),
                               word(fenced.fence() + page_bytes - 1),
                               word(fenced.fence() - 7),
                               0x7fff'ffff'f000,
                               0x7fff'ffff'ffff,
                               0x8000'0000'0000,
                               0xffff'8000'0000'0000,
                               ~std::uint64_t{0},
                               ~std::uint64_t{7}};
  for (const std::uint64_t address : bad) {
    call.registers[4] = address;
    EXPECT_EQ(call.run({from_register(4), load(8)}), std::nullopt) << address;
  }
  call.registers[4] = word(fenced.fence() - 8);
  EXPECT_EQ(call.run({from_register(4), load(8)}), 0u);
  EXPECT_EQ(call.run({from_register(4), load(8, 1)}), std::nullopt);
  EXPECT_EQ(call.run({from_register(4), load(1, 7)}), 0u);
}

// Without a look-up: on the page that the program read last, while the process has one thread.
TEST(Programs, AreQuickOnThePageThatTheyReadLast) {
  Call call;
  const Fenced fenced, other;
  plan::HintRule rule{};
  rule.frame_bytes = 64;
  const Program program = {from_register(4), load(8, 8)};
  CompiledProgram compiled(program, rule);
  ASSERT_TRUE(compiled.is_quick());
  const auto gives = [&](char* at) {
    call.registers[4] = word(at);
    return call.gives(compiled, 0);
  };
  std::uint64_t result = 1;
  EXPECT_FALSE(gives(fenced.fence() - 64));
  ASSERT_TRUE(compiled.run(0, {call.registers, call.frame}, result));
  EXPECT_EQ(result, 0u);
  EXPECT_TRUE(gives(fenced.fence() - 64));
  EXPECT_TRUE(gives(fenced.fence() - 16));
  EXPECT_TRUE(gives(fenced.fence() - page_bytes - 8));
  for (const int out : {-15, -8, 0, 64}) EXPECT_FALSE(gives(fenced.fence() + out)) << out;
  EXPECT_FALSE(gives(fenced.fence() - page_bytes - 9));
  EXPECT_FALSE(gives(other.fence() - 64));
  call.registers[4] = word(fenced.fence());
  EXPECT_FALSE(compiled.run(0, {call.registers, call.frame}, result));
  EXPECT_TRUE(gives(fenced.fence() - 64));
  for (const Program& slow :
       {Program{from_image(0), load(8)}, Program{from_register(4), load(4)}, Program{constant(1)}})
    EXPECT_FALSE(CompiledProgram(slow, rule).is_quick());
  rule.flags = plan::hint_avoids_frame;
  EXPECT_FALSE(CompiledProgram(program, rule).is_quick());
}

TEST(Programs, LeaveErrnoAlone) {
  errno = 77;
  EXPECT_FALSE(is_readable(12345, 8));
  EXPECT_TRUE(is_readable(word(&errno), 4));
  EXPECT_EQ(errno, 77);
}

// A random program, mostly of known operations.
Program any_program(std::mt19937_64& random) {
  const std::size_t longest = random() % 8 == 0 ? plan::max_hint_operations + 1 : 8;
  Program made(1 + random() % longest);
  for (HintOperation& one : made) {
    static constexpr std::uint8_t widths[] = {1, 2, 4, 8, 0x81, 0x82, 0x84, 0x88, 3, 16};
    one.code = static_cast<HintCode>(random() % (random() % 64 == 0 ? 11 : 9));
    const bool has_width = one.code == HintCode::load || one.code == HintCode::extend;
    const unsigned parameters = one.code >= HintCode::combine ? 17 : 5;
    one.parameter =
        has_width ? widths[random() % 10] : static_cast<std::uint8_t>(random() % parameters);
    const bool is_plain = one.code == HintCode::push_register || one.code == HintCode::add ||
                          one.code >= HintCode::extend;
    one.value = is_plain ? 0 : static_cast<std::int32_t>(random() >> (random() % 64));
    if (one.code == HintCode::push_frame) one.parameter = 0, one.value &= 63;
    if (one.code == HintCode::push_image || one.code == HintCode::push_constant) one.parameter = 0;
  }
  return made;
}

std::uint64_t any_register(std::mt19937_64& random, const std::vector<std::uint64_t>& known) {
  const std::uint64_t number = random();
  switch (number % 4) {
    case 0:
      return known[random() % known.size()] + random() % 64;
    case 1:
      return random();
    case 2:
      return random() >> (random() % 64);
    default:
      return known[random() % known.size()] + (random() >> (random() % 64));
  }
}

TEST(Programs, NoRuleAndNoRegisterMakesThemFault) {
  std::mt19937_64 random(20261125);
  const Fenced fenced;
  std::vector<std::uint64_t> chain(64);
  for (std::uint64_t& one : chain) one = word(&chain[random() % chain.size()]);
  static Call call;  // not on the stack, whose words differ between two runs
  const std::vector<std::uint64_t> known = {word(chain.data()), word(fenced.fence()),
                                            word(fenced.fence() - 64), word(call.frame), 0};
  plan::HintRule rule{0x1000, 0, 40, 64, 0, 1, 0};
  plan::HintKey key{1.0, 7, -1, 0, 0};
  std::uint64_t valid = 0, known_values = 0;
  for (int programs = 0; programs < 1'000'000; ++programs) {
    const Program program = any_program(random);
    key.operations = static_cast<std::uint32_t>(program.size());
    rule.flags = random() % 2;
    if (plan::check_hints({{&rule, 1}, {&key, 1}, program}, 1) != nullptr) continue;
    CompiledProgram compiled(program, rule);  // has to give the same
    for (int round = 0; round < 160; ++round) {
      for (std::uint64_t& one : call.registers) one = any_register(random, known);
      ++valid;
      const CallState state{call.registers, call.frame};
      std::uint64_t result = 0;
      bool is_known = false, is_same = false;
      // A word that the process itself changes in between may differ once.
      for (int attempt = 0; attempt < 3 && !is_same; ++attempt) {
        std::uint64_t again = result = 0;
        is_known = run_program(program, rule, known[0], state, result);
        is_same = compiled.run(known[0], state, again) == is_known && again == result;
      }
      known_values += is_known;
      ASSERT_TRUE(is_same);
      ASSERT_FALSE(call.gives(compiled, result) && !is_known);
    }
  }
  EXPECT_GT(valid, 10'000'000u);
  EXPECT_GT(known_values, valid / 20);
}

// A width and a value of that kind, often near a border of an interval.
double any_width(std::mt19937_64& random) {
  switch (random() % 3) {
    case 0:
      return static_cast<double>(random() % 1000 + 1) / 10;
    case 1:
      return std::ldexp(1 + static_cast<double>(random() % 1000) / 1000,
                        static_cast<int>(random() % 60) - 30);
    default:
      const auto width = std::bit_cast<double>(random() >> 1);
      return width > 0 && width < 1e300 ? width : 5e-324;
  }
}

std::uint64_t any_value(std::mt19937_64& random, unsigned kind, double width) {
  if (random() % 2 == 0) return random() >> (random() % 64);
  const double value = width * (static_cast<double>(random() % 2000) - 1000);
  if (kind == TIDY_F64) return std::bit_cast<std::uint64_t>(value);
  if (kind == TIDY_F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::abs(value) < 1e18 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : 0;
}

TEST(Intervals, AreThoseOfTheLibrary) {
  std::mt19937_64 random(7);
  unsigned differences = 0;
  constexpr unsigned rounds = 2'000'000;
  for (unsigned round = 0; round < rounds; ++round) {
    const auto kind = static_cast<unsigned>(random() % TIDY_KINDS);
    const double width = any_width(random);
    const std::uint64_t value = any_value(random, kind, width);
    const double number = tidy::decoded(value, kind);
    const std::int64_t wanted = tidy_bin(number, width);
    const std::int64_t found = Intervals(width, kind).number_of(value);
    if (found == wanted) continue;
    ++differences;
    const double quotient = number / width;
    ASSERT_EQ(std::abs(found - wanted), 1) << kind << " " << width << " " << value;
    ASSERT_NEAR(quotient, std::round(quotient), 0x1p-20) << kind << " " << width << " " << value;
  }
  EXPECT_LT(differences, rounds / 100);
}

TEST(Intervals, HaveEndsForWhatIsBeyond) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double width : {5e-324, 1.0, 1e299}) {
    const Intervals intervals(width, TIDY_F64);
    const auto of = [&](double value) {
      return intervals.number_of(std::bit_cast<std::uint64_t>(value));
    };
    EXPECT_EQ(of(infinite), UINT32_MAX - 1);
    EXPECT_EQ(of(-infinite), 0u);
    EXPECT_EQ(of(std::numeric_limits<double>::quiet_NaN()), UINT32_MAX);
    EXPECT_EQ(of(0.0), of(-0.0));
    EXPECT_EQ(of(width) - of(0), 1u);
    EXPECT_EQ(of(0) - of(-width), 1u);
  }
}

}  // namespace
}  // namespace halo::runtime
