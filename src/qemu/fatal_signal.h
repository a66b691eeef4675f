// A hook for the only end of a recorded program that QEMU does not report to plugins: a fatal
// signal.
#pragma once

namespace halo::qemu {

// `action` runs before QEMU kills the process with the guest's signal, but not before it stops it.
// Returns false if the hook could not be installed.
bool call_before_fatal_signal(void (*action)());

}  // namespace halo::qemu
