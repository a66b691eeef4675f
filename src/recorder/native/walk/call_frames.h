// Call frame information: .eh_frame and its index, in memory.
#pragma once

#include <cstdint>

#include "recorder/native/walk/row.h"

namespace halo::native {

// A module's .eh_frame_hdr section (Linux Standard Base 5.0, core part, section 10.6.2).
//
// `code` is an address in the module: that of an instruction, or of a call if it is one below a
// return address. Without an entry for it the base of the row is kUnknown. Needs no lock, memory or
// C library.
Row find_row(const uint8_t* eh_frame_hdr, uint64_t code);

}  // namespace halo::native
