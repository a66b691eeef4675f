// What a library that is preloaded into programs binds, so that children with an old C library,
// from glibc 2.17 on, start under it. Included first in every file of such a library (-include),
// which is linked with old_symbols.S.
#pragma once

#define HALO_OLD_SYMBOLS

// clang-format off
// Until glibc 2.34 these were in libdl.so.2 and libpthread.so.0, which a program need not have loaded: they may
// be null (old_c_library.h).
#pragma weak dladdr
#pragma weak dladdr1
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak pthread_key_create
#pragma weak pthread_key_delete
#pragma weak pthread_once
#pragma weak pthread_setspecific

// What headers call these functions since glibc 2.38, for C23.
#define HALO_BIND(name, first_name) __asm__(".symver " #name ", " #first_name "@GLIBC_2.2.5");
HALO_BIND(__isoc23_sscanf, sscanf)
HALO_BIND(__isoc23_strtol, strtol)
HALO_BIND(__isoc23_strtoll, strtoll)
HALO_BIND(__isoc23_strtoul, strtoul)
HALO_BIND(__isoc23_strtoull, strtoull)
// clang-format on
