// A hook for the one way a recorded program ends that QEMU tells no plugin of: a fatal signal.
#pragma once

namespace halo::record {

// `action` runs just before QEMU kills the process with the guest's signal (not when it only stops
// it). False where the hook could not be placed.
bool call_before_fatal_signal(void (*action)());

}  // namespace halo::record
