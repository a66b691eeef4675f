// The intervals of a hint's values, by integer arithmetic.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace halo::runtime {

// The intervals of one key: the number of the one that has a value, as by tidy_bin (halo/tidy.h)
// for the value as a double. Only a value within 2^-20 widths of a border may get the neighbour's
// number. No operation depends on the program's floating-point environment, or changes it.
class Intervals {
 public:
  // `width` is finite and above 0; `kind` is that of a plan::HintKey.
  Intervals(double width, std::uint32_t kind) : kind_(kind) {
    const Magnitude divisor = of_double(std::bit_cast<std::uint64_t>(width));
    const Product inverse = (Product{1} << 127) / divisor.mantissa;
    inverse_ = static_cast<std::uint64_t>(std::min<Product>(inverse, UINT64_MAX));
    shift_ = 62 - fraction_bits + divisor.exponent;
  }

  // Of the value in the low bits.
  std::uint32_t number_of(std::uint64_t bits) const {
    switch (kind_) {
      case 0:
        return of_signed(static_cast<std::int8_t>(bits));
      case 1:
        return of(of_integer(static_cast<std::uint8_t>(bits)), false);
      case 2:
        return of_signed(static_cast<std::int16_t>(bits));
      case 3:
        return of(of_integer(static_cast<std::uint16_t>(bits)), false);
      case 4:
        return of_signed(static_cast<std::int32_t>(bits));
      case 5:
        return of(of_integer(static_cast<std::uint32_t>(bits)), false);
      case 6:
        return of_signed(static_cast<std::int64_t>(bits));
      case 7:
        return of(of_integer(bits), false);
      case 8:
        return of_real(bits << 32 & ~sign_bit, 0xFFull << 55, of_float(bits), bits >> 31 & 1);
      default:
        return of_real(bits & ~sign_bit, 0x7FFull << 52, of_double(bits), bits >> 63);
    }
  }

 private:
  __extension__ using Product = unsigned __int128;
  // mantissa * 2^exponent; the mantissa has its highest bit set, or is 0 with `no_exponent`.
  struct Magnitude {
    std::uint64_t mantissa;
    int exponent;
  };
  static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  static constexpr int no_exponent = -4096;
  static constexpr int fraction_bits = 21;  // of numbers before they are rounded down
  static constexpr std::int64_t middle = std::int64_t{1} << (31 + fraction_bits);
  static constexpr std::uint64_t beyond = std::uint64_t{1} << (32 + fraction_bits);

  static Magnitude of_integer(std::uint64_t value) {
    if (value == 0) return {0, no_exponent};
    const int zeroes = std::countl_zero(value);
    return {value << zeroes, -zeroes};
  }
  // Without the sign, and as if an infinity or NaN were a number.
  static Magnitude of_double(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
    if (exponent != 0) [[likely]]
      return {bits << 11 | sign_bit, exponent - 1086};
    const Magnitude small = of_integer(bits & ~sign_bit);
    return {small.mantissa, small.exponent - 1074};
  }
  static Magnitude of_float(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 23 & 0xFF);
    if (exponent != 0) [[likely]]
      return {bits << 40 | sign_bit, exponent - 190};
    const Magnitude small = of_integer(bits & 0x7FFFFF);
    return {small.mantissa, small.exponent - 149};
  }

  std::uint32_t of_signed(std::int64_t value) const {
    const auto bits = static_cast<std::uint64_t>(value);
    return of(of_integer(value < 0 ? 0 - bits : bits), value < 0);
  }
  std::uint32_t of_real(std::uint64_t absolute, std::uint64_t infinity, const Magnitude& value,
                        bool is_negative) const {
    if (absolute < infinity) [[likely]]
      return of(value, is_negative);
    if (absolute > infinity) return UINT32_MAX;
    return is_negative ? 0 : UINT32_MAX - 1;
  }
  std::uint32_t of(const Magnitude& value, bool is_negative) const {
    const auto quotient = static_cast<std::uint64_t>(Product{value.mantissa} * inverse_ >> 64);
    const int shift = shift_ - value.exponent;
    std::uint64_t rounded = 0;
    if (shift < 63 - 32 - fraction_bits) {
      rounded = beyond;
    } else if (shift < 64) {
      rounded = ((quotient >> shift) + 1) >> 1;
    }
    const auto distance = static_cast<std::int64_t>(rounded);
    const std::int64_t at = is_negative ? middle - distance : middle + distance;
    if (at < 0) return 0;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(at >> fraction_bits, UINT32_MAX - 1));
  }

  std::uint64_t inverse_;  // 2^127 divided by the width's mantissa
  std::int32_t shift_;
  std::uint32_t kind_;
};

}  // namespace halo::runtime
