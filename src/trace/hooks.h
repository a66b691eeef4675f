// The functions that instrumented code calls, all in libhalo-logging.so. A change of theirs, or of
// site.h, takes other names, so that old programs never call what they do not know.
#pragma once

#include <cstdint>

#include "trace/site.h"

extern "C" {

// An event, see SiteKind for its words. LLVM's preserve_all convention: every register but r11 and
// the flags is as before. Changes neither errno nor the floating-point environment.
void halo_log_v1(const halo::trace::Site* site, uint64_t word1, uint64_t word2);

// Around the life of a module, from one constructor and destructor of it; ordinary C functions.
void halo_log_module_v1(const halo::trace::ModuleNote* note);
void halo_log_module_gone_v1(const halo::trace::ModuleNote* note);
}
