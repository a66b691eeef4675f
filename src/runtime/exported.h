// What the library exports, and what the compiler is to know that it does not: what is only
// declared where it is used would be looked up in the global offset table otherwise.
#pragma once

#define HALO_EXPORT __attribute__((visibility("default")))
#define HALO_HIDDEN __attribute__((visibility("hidden")))
