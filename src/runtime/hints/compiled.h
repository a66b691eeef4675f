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
  bool reads_memory() const { return load_count_ != 0 || base_ == Base::program; }

  // As run_program, but in a floating-point environment of its own; false if there is no value.
  bool run(std::uintptr_t bias, const CallState& call, std::uint64_t& result);

  // Whether `gives` may return true: it is a register, or words behind one or in a frame that is
  // not written.
  bool is_quick() const { return is_quick_; }

  // Whether the result is this value. False also if that takes longer to find out: each load has to
  // be from the page of the load before. In a process with one thread, if it is quick.
  [[gnu::always_inline]] bool gives(std::uint64_t value, const CallState& call) const {
    std::uint64_t now = base_ == Base::frame
                            ? reinterpret_cast<std::uintptr_t>(call.slot + 1) + base_value_
                            : call.registers[base_value_];
    for (const Load *load = loads_, *const end = load + load_count_; load != end; ++load) {
      now += load->offset;
      if (now - load->page > kernel_page_bytes - sizeof now) return false;
      now = load_as<std::uint64_t>(reinterpret_cast<const void*>(now));
    }
    return now == value;
  }

 private:
  // By the interpreter.
  bool run_any(std::uintptr_t bias, const CallState& call, std::uint64_t& result) const;

  enum class Base : std::uint8_t { reg, frame, image, constant, program };
  static constexpr unsigned max_loads = 3;

  // `page` is where a readable page begins: that of the last load while the process had one thread.
  struct Load {
    std::uint64_t offset = 0;  // a signed number
    std::uintptr_t page = reinterpret_cast<std::uintptr_t>(readable_pages);
  };

  const plan::HintRule* rule_;
  const plan::HintOperation* operations_;
  std::uint64_t base_value_ = 0;  // a register's number, or the number of operations
  Load loads_[max_loads];
  Base base_ = Base::program;
  std::uint8_t load_count_ = 0;
  std::uint8_t bytes_ = 0;  // of the last load
  bool is_signed_ = false;
  bool computes_reals_ = false;
  bool avoids_frame_;
  bool is_quick_ = false;
};

}  // namespace halo::runtime
