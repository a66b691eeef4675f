// Marks what the library exports; everything else is hidden.
#pragma once

#define HALO_EXPORT __attribute__((visibility("default")))
