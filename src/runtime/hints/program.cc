#include "runtime/hints/program.h"

#include "base/load_bytes.h"
#include "runtime/hints/arithmetic.h"
#include "runtime/hints/readable.h"

namespace halo::runtime {
namespace {

using plan::HintCode;

// A value of the stack; `is_frame`: an address that was computed from the stack pointer.
struct Value {
  std::uint64_t bits;
  bool is_frame;
};

}  // namespace

bool run_program(std::span<const plan::HintOperation> program, const plan::HintRule& rule,
                 std::uintptr_t bias, const CallState& call, std::uint64_t& result) {
  Value stack[1 + plan::max_hint_depth] = {};  // the first one is below all values
  Value* top = stack;
  for (const plan::HintOperation& operation : program) {
    switch (operation.code) {
      case HintCode::push_register:
        *++top = {call.registers[operation.parameter], false};
        break;
      case HintCode::push_frame:
        *++top = {reinterpret_cast<std::uintptr_t>(call.slot + 1) +
                      static_cast<std::uint32_t>(operation.value),
                  true};
        break;
      case HintCode::push_image:
        *++top = {bias + static_cast<std::uint32_t>(operation.value), false};
        break;
      case HintCode::push_constant:
        *++top = {static_cast<std::uint64_t>(std::int64_t{operation.value}), false};
        break;
      case HintCode::add: {
        const std::uint64_t index = top->bits << operation.parameter;
        --top;
        top->bits += index;
        break;
      }
      case HintCode::load: {
        const unsigned bytes = operation.parameter & ~plan::hint_signed_load;
        const std::uintptr_t address =
            top->bits + static_cast<std::uint64_t>(std::int64_t{operation.value});
        const bool is_hidden = (rule.flags & plan::hint_avoids_frame) != 0 && !top->is_frame &&
                               is_in_frame(address, rule, call);
        if (is_hidden || !is_readable(address, bytes)) return false;
        const std::uint64_t bits = load_bytes(reinterpret_cast<const void*>(address), bytes);
        const bool is_signed = (operation.parameter & plan::hint_signed_load) != 0;
        *top = {extended(bits, bytes, is_signed), false};
        break;
      }
      case HintCode::extend: {
        const bool is_signed = (operation.parameter & plan::hint_signed_load) != 0;
        *top = {extended(top->bits, operation.parameter & ~plan::hint_signed_load, is_signed),
                false};
        break;
      }
      case HintCode::combine: {
        const std::uint64_t b = top->bits;
        --top;
        *top = {combined(static_cast<plan::HintFunction>(operation.parameter), top->bits, b),
                false};
        break;
      }
      case HintCode::convert:
        *top = {converted(operation.parameter, top->bits), false};
        break;
    }
  }
  result = top->bits;
  return true;
}

}  // namespace halo::runtime
