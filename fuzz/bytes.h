// Decisions taken from a fuzzer's input, byte by byte; zeros once it is used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halo::fuzz {

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> input) : input_(input) {}

  bool empty() const { return at_ == input_.size(); }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : input_[at_++]; }

  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }

  // A number below `limit`, from as few bytes as possible.
  std::uint32_t below(std::uint32_t limit) {
    if (limit <= 1) return 0;
    if (limit <= 256) return byte() % limit;
    if (limit <= 65536) return (byte() * 256u + byte()) % limit;
    return word() % limit;
  }

 private:
  std::span<const std::uint8_t> input_;
  std::size_t at_ = 0;
};

}  // namespace halo::fuzz
