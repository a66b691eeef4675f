// Call sites with known addresses and frames: their code is written in assembly, in its own section
// at a fixed address.
#pragma once

#include <cstddef>

extern "C" {

// Each is a function with one call, and the return address of that call.
#define HALO_SITE(name, result, ...) \
  result name(__VA_ARGS__);          \
  extern const char name##_return[]

HALO_SITE(site_malloc, void*, size_t size);
HALO_SITE(site_realloc, void*, void* p, size_t size);
HALO_SITE(site_new, void*, size_t size);
HALO_SITE(site_malloc_reused, void*, size_t size);
HALO_SITE(site_malloc_bump, void*, size_t size);
HALO_SITE(site_new_reused, void*, size_t size);
// Four frames, outermost first: each calls the one below, the last one calls malloc.
HALO_SITE(site_frame_4, void*, size_t size);
HALO_SITE(site_frame_3, void*, size_t size);
HALO_SITE(site_frame_2, void*, size_t size);
HALO_SITE(site_frame_1, void*, size_t size);

#undef HALO_SITE

// Eleven instructions, five loads, three stores, three branches.
void known_work(long* word);

extern const char __start_halo_sites[], __stop_halo_sites[];
}

// Bytes from the slot of one return address to the next, for every site.
inline constexpr int kSiteStep = 16;
