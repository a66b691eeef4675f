// Decisions taken from a fuzzer's input, byte by byte; zeros once it is used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halo::fuzz {

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> input) : input_(input) {}

  bool empty() const { return at_ == input_.size(); }
  uint8_t byte() { return empty() ? uint8_t{0} : input_[at_++]; }

  uint32_t word() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }

  // A number below `limit`, from as few bytes as possible.
  uint32_t below(uint32_t limit) {
    if (limit <= 1) return 0;
    if (limit <= 256) return byte() % limit;
    if (limit <= 65536) return (byte() * 256u + byte()) % limit;
    return word() % limit;
  }

 private:
  std::span<const uint8_t> input_;
  size_t at_ = 0;
};

}  // namespace halo::fuzz
