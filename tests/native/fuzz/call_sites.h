// Calls of the allocation functions from many places in this program, and the plan that gives these
// places groups.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace halo::fuzz {

struct CallSite {
  void* (*malloc)(std::size_t size);
  void* (*calloc)(std::size_t size);
  void* (*realloc)(void* p, std::size_t size);
  void* (*make)(std::size_t size);  // operator new
};

inline constexpr unsigned call_site_count = 16;

// The first half calls malloc itself; the others do so through one function that they share, so
// that only the caller's caller tells them apart.
extern const std::array<CallSite, call_site_count> call_sites;

// A compact plan with groups of every kind, made by looking at where the calls come from: no
// recording is needed.
std::vector<std::byte> make_call_site_plan();

}  // namespace halo::fuzz
