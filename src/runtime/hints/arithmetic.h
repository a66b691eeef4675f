// The arithmetic of hint programs, on values of 64 bits (plan/hint_format.h).
#pragma once

#include <cstdint>

#include "plan/hint_format.h"

namespace halo::runtime {

// The low `bytes` bytes, 1 to 8, extended by the sign or by zeros.
inline std::uint64_t extended(std::uint64_t bits, unsigned bytes, bool is_signed) {
  const unsigned unused = 64 - 8 * bytes;
  const std::uint64_t top = bits << unused;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> unused)
                   : top >> unused;
}

// Whether an operation depends on the floating-point environment, or changes it.
inline bool computes_reals(const plan::HintOperation& operation) {
  constexpr auto first = static_cast<std::uint8_t>(plan::HintFunction::add_f32);
  return operation.code == plan::HintCode::convert ||
         (operation.code == plan::HintCode::combine && operation.parameter >= first);
}

// The result of HintCode::combine; `a` is below `b` on the stack.
std::uint64_t combined(plan::HintFunction function, std::uint64_t a, std::uint64_t b);

// The result of HintCode::convert by a valid parameter.
std::uint64_t converted(unsigned parameter, std::uint64_t bits);

}  // namespace halo::runtime
