// Symbol visibility: hidden symbols are accessed directly, not through the global offset table.
#pragma once

#define HALO_EXPORT __attribute__((visibility("default")))
#define HALO_HIDDEN __attribute__((visibility("hidden")))
