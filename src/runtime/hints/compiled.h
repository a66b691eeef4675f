// Programs of hint rules in the form that runs: the frequent shapes without an interpreter.
#pragma once

#include <cstdint>
#include <span>

#include "base/load_bytes.h"
#include "plan/hint_format.h"
#include "runtime/hints/program.h"
#include "runtime/hints/readable.h"

namespace halo::runtime {

// A validated program. A register, an address or a constant, perhaps followed by up to three loads
// of which all but the last read pointers, is one step for each; run_program runs any other one.
class CompiledProgram {
 public:
  // Both must outlive it.
  CompiledProgram(std::span<const plan::HintOperation> program, const plan::HintRule& rule);

  // Whether the result depends on memory.
  bool reads_memory() const { return loads_ != 0 || base_ == Base::program; }

  // The number of the register that is the result; -1 if it is more than that.
  std::int16_t only_register() const {
    return base_ == Base::reg && loads_ == 0 ? static_cast<std::int16_t>(base_value_) : -1;
  }

  // As run_program, but in a floating-point environment of its own; false if there is no value.
  bool run(std::uintptr_t bias, const CallState& call, std::uint64_t& result) const;

  // Whether the result is this value; false also if that takes longer to find out.
  [[gnu::always_inline]] bool gives(std::uint64_t value, const std::uint64_t* registers,
                                    const std::uintptr_t* slot) const {
    if (!is_quick_) return false;
    std::uint64_t now = base_ == Base::frame
                            ? reinterpret_cast<std::uintptr_t>(slot + 1) + base_value_
                            : registers[base_value_];
    const std::int32_t* offset = offsets_;
    for (unsigned left = loads_; left != 0; --left) {
      now += static_cast<std::uint64_t>(std::int64_t{*offset++});
      if (!is_known_readable(now, sizeof now)) return false;
      now = load_as<std::uint64_t>(reinterpret_cast<const void*>(now));
    }
    return now == value;
  }

 private:
  // By the interpreter.
  bool run_any(std::uintptr_t bias, const CallState& call, std::uint64_t& result) const;

  enum class Base : std::uint8_t { reg, frame, image, constant, program };
  static constexpr unsigned max_loads = 3;

  const plan::HintRule* rule_;
  const plan::HintOperation* operations_;
  std::uint64_t base_value_ = 0;  // a register's number, or the number of operations
  std::int32_t offsets_[max_loads] = {};
  Base base_ = Base::program;
  std::uint8_t loads_ = 0;
  std::uint8_t bytes_ = 0;  // of the last load
  bool is_signed_ = false;
  bool computes_reals_ = false;
  bool avoids_frame_;
  bool is_quick_ = false;  // a register, or words behind one or in a frame that is not written
};

}  // namespace halo::runtime
