// Computes with reals without a trace in the program's floating-point environment.
#pragma once

#include <cstdint>

namespace halo {

// All exceptions are masked, rounding is to nearest. At the end, the program's control and status
// register is as before. The computation must be in a function that is not inlined, since the
// compiler does not know that it depends on the register.
class KeepFloatState {
 public:
  KeepFloatState() {
    asm volatile("stmxcsr %0" : "=m"(saved_));
    load(kDefault);
  }
  ~KeepFloatState() { load(saved_); }
  KeepFloatState(const KeepFloatState&) = delete;
  KeepFloatState& operator=(const KeepFloatState&) = delete;

 private:
  static constexpr uint32_t kDefault = 0x1F80;

  static void load(const uint32_t& state) { asm volatile("ldmxcsr %0" : : "m"(state) : "memory"); }

  uint32_t saved_;
};

}  // namespace halo
