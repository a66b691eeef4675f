#include "runtime/hints/arithmetic.h"

#include <immintrin.h>

#include <bit>

namespace halo::runtime {
namespace {

using plan::HintFunction;
using plan::HintType;

float f32_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double f64_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

constexpr unsigned pair(HintType from, HintType to) {
  return static_cast<unsigned>(from) * plan::hint_types + static_cast<unsigned>(to);
}

}  // namespace

std::uint64_t combined(HintFunction function, std::uint64_t a, std::uint64_t b) {
  switch (function) {
    case HintFunction::subtract:
      return a - b;
    case HintFunction::multiply:
      return a * b;
    case HintFunction::bit_and:
      return a & b;
    case HintFunction::bit_or:
      return a | b;
    case HintFunction::bit_xor:
      return a ^ b;
    case HintFunction::shift_left:
      return a << (b & 63);
    case HintFunction::shift_right:
      return a >> (b & 63);
    case HintFunction::shift_sign:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (b & 63));
    case HintFunction::add_f32:
      return bits_of(f32_of(a) + f32_of(b));
    case HintFunction::subtract_f32:
      return bits_of(f32_of(a) - f32_of(b));
    case HintFunction::multiply_f32:
      return bits_of(f32_of(a) * f32_of(b));
    case HintFunction::divide_f32:
      return bits_of(f32_of(a) / f32_of(b));
    case HintFunction::add_f64:
      return bits_of(f64_of(a) + f64_of(b));
    case HintFunction::subtract_f64:
      return bits_of(f64_of(a) - f64_of(b));
    case HintFunction::multiply_f64:
      return bits_of(f64_of(a) * f64_of(b));
    case HintFunction::divide_f64:
      return bits_of(f64_of(a) / f64_of(b));
  }
  return 0;
}

// By instructions, since a cast of a real that the integer cannot hold is undefined in C++.
std::uint64_t converted(unsigned parameter, std::uint64_t bits) {
  const auto low = static_cast<std::int32_t>(bits);
  const auto whole = static_cast<std::int64_t>(bits);
  switch (parameter) {
    case pair(HintType::i32, HintType::f32):
      return bits_of(static_cast<float>(low));
    case pair(HintType::i32, HintType::f64):
      return bits_of(static_cast<double>(low));
    case pair(HintType::i64, HintType::f32):
      return bits_of(static_cast<float>(whole));
    case pair(HintType::i64, HintType::f64):
      return bits_of(static_cast<double>(whole));
    case pair(HintType::f32, HintType::i32):
      return static_cast<std::uint32_t>(_mm_cvttss_si32(_mm_set_ss(f32_of(bits))));
    case pair(HintType::f32, HintType::i64):
      return static_cast<std::uint64_t>(_mm_cvttss_si64(_mm_set_ss(f32_of(bits))));
    case pair(HintType::f32, HintType::f64):
      return bits_of(double{f32_of(bits)});
    case pair(HintType::f64, HintType::i32):
      return static_cast<std::uint32_t>(_mm_cvttsd_si32(_mm_set_sd(f64_of(bits))));
    case pair(HintType::f64, HintType::i64):
      return static_cast<std::uint64_t>(_mm_cvttsd_si64(_mm_set_sd(f64_of(bits))));
    case pair(HintType::f64, HintType::f32):
      return bits_of(_mm_cvtss_f32(_mm_cvtsd_ss(_mm_setzero_ps(), _mm_set_sd(f64_of(bits)))));
    default:
      return 0;
  }
}

}  // namespace halo::runtime
