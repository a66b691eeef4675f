// The functions that instrumented code calls, all in libhalo-logging.so.
#pragma once

#include <cstdint>

#include "tracing/format/site.h"

// If they or site.h change, they get other names: old programs then fail to link instead of
// misinterpreting data.
extern "C" {

// Logs an event; SiteKind describes its words. LLVM's preserve_all convention: it keeps all
// registers but r11 and the flags. It keeps errno and the floating-point environment as well.
void halo_log_v1(const halo::trace::Site* site, uint64_t word1, uint64_t word2);

// Called by a constructor and a destructor of each module; ordinary C functions.
void halo_log_module_v1(const halo::trace::ModuleNote* note);
void halo_log_module_gone_v1(const halo::trace::ModuleNote* note);
}
