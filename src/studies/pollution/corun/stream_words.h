// The words of a stream (stream_format.h).
#pragma once

#include <cstdint>

#include "studies/pollution/corun/stream_format.h"

namespace halo::corun {

inline constexpr uint32_t kMaxLine = (1u << kLineBits) - 1;
inline constexpr uint32_t kMaxOwner = (1u << kOwnerBits) - 1;
inline constexpr uint32_t kMaxCycles = (1u << kCycleBits) - 1;

class RequestWord {
 public:
  RequestWord(RequestKind kind, uint32_t line, uint32_t owner, uint32_t cycles)
      : bits_(uint64_t{line} | uint64_t{owner} << kLineBits |
              uint64_t{cycles} << (kLineBits + kOwnerBits) |
              uint64_t(kind) << (kLineBits + kOwnerBits + kCycleBits)) {}
  explicit RequestWord(uint64_t bits) : bits_(bits) {}

  // Cycles that passed without a request, at most kMaxPass.
  static RequestWord pass(uint64_t cycles) {
    return {RequestKind::kPass, uint32_t(cycles & kMaxLine), 0, uint32_t(cycles >> kLineBits)};
  }
  static constexpr uint64_t kMaxPass = (uint64_t{1} << (kLineBits + kCycleBits)) - 1;

  uint64_t bits() const { return bits_; }
  RequestKind kind() const { return RequestKind(bits_ >> (kLineBits + kOwnerBits + kCycleBits)); }
  uint32_t line() const { return uint32_t(bits_) & kMaxLine; }
  uint32_t owner() const { return uint32_t(bits_ >> kLineBits) & kMaxOwner; }
  // Since the request before.
  uint64_t cycles() const {
    const uint64_t cycles = bits_ >> (kLineBits + kOwnerBits) & kMaxCycles;
    return kind() == RequestKind::kPass ? cycles << kLineBits | line() : cycles;
  }

 private:
  uint64_t bits_;
};

}  // namespace halo::corun
