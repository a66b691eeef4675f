#include "runtime/hints/compiled.h"

#include <algorithm>

#include "base/keep_float_state.h"
#include "base/single_threaded.h"
#include "runtime/hints/arithmetic.h"

namespace halo::runtime {

using plan::HintCode;

CompiledProgram::CompiledProgram(std::span<const plan::HintOperation> program,
                                 const plan::HintRule& rule)
    : rule_(&rule),
      operations_(program.data()),
      base_value_(program.size()),
      avoids_frame_((rule.flags & plan::hint_avoids_frame) != 0) {
  computes_reals_ = std::any_of(program.begin(), program.end(), computes_reals);
  const auto loads = program.subspan(1);
  if (loads.size() > max_loads) return;
  const auto is_load = [&](const plan::HintOperation& one) {
    const bool is_pointer = (one.parameter & ~plan::hint_signed_load) == sizeof(std::uintptr_t);
    return one.code == HintCode::load && (is_pointer || &one == &loads.back());
  };
  if (!std::all_of(loads.begin(), loads.end(), is_load)) return;
  const plan::HintOperation& first = program.front();
  switch (first.code) {
    case HintCode::push_register:
      base_ = Base::reg;
      base_value_ = first.parameter;
      break;
    case HintCode::push_frame:
      base_ = Base::frame;
      base_value_ = static_cast<std::uint32_t>(first.value);
      break;
    case HintCode::push_image:
      base_ = Base::image;
      base_value_ = static_cast<std::uint32_t>(first.value);
      break;
    case HintCode::push_constant:
      base_ = Base::constant;
      base_value_ = static_cast<std::uint64_t>(std::int64_t{first.value});
      break;
    default:
      return;
  }
  is_quick_ = base_ == Base::reg || base_ == Base::frame;
  load_count_ = static_cast<std::uint8_t>(loads.size());
  for (std::size_t at = 0; at < loads.size(); ++at)
    loads_[at].offset = static_cast<std::uint64_t>(std::int64_t{loads[at].value});
  if (loads.empty()) return;
  bytes_ = static_cast<std::uint8_t>(loads.back().parameter & ~plan::hint_signed_load);
  is_signed_ = (loads.back().parameter & plan::hint_signed_load) != 0;
  is_quick_ = is_quick_ && bytes_ == sizeof(std::uint64_t) && !avoids_frame_;
}

bool CompiledProgram::run_any(std::uintptr_t bias, const CallState& call,
                              std::uint64_t& result) const {
  const std::span program(operations_, base_value_);
  if (!computes_reals_) return run_program(program, *rule_, bias, call, result);
  const KeepFloatState keep;
  return run_program(program, *rule_, bias, call, result);
}

bool CompiledProgram::run(std::uintptr_t bias, const CallState& call, std::uint64_t& result) {
  std::uint64_t value = base_value_;
  switch (base_) {
    case Base::reg:
      value = call.registers[base_value_];
      break;
    case Base::frame:
      value += reinterpret_cast<std::uintptr_t>(call.slot + 1);
      break;
    case Base::image:
      value += bias;
      break;
    case Base::constant:
      break;
    case Base::program:
      return run_any(bias, call, result);
  }
  for (unsigned at = 0; at < load_count_; ++at) {
    const std::uintptr_t address = value + loads_[at].offset;
    const bool is_last = at + 1u == load_count_;
    const unsigned bytes = is_last ? bytes_ : sizeof address;
    const bool may_be_hidden = avoids_frame_ && (at != 0 || base_ != Base::frame);
    if (may_be_hidden && is_in_frame(address, *rule_, call)) return false;
    if (!is_readable(address, bytes)) return false;
    if (is_single_threaded()) loads_[at].page = address & ~(kernel_page_bytes - 1);
    value = load_bytes(reinterpret_cast<const void*>(address), bytes);
    if (is_last) value = extended(value, bytes, is_signed_);
  }
  result = value;
  return true;
}

}  // namespace halo::runtime
