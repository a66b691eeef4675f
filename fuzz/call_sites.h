// Calls of the allocation functions from many places in this program, and a plan that assigns
// groups to these places.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace halo::fuzz {

struct CallSite {
  void* (*malloc)(size_t size);
  void* (*calloc)(size_t size);
  void* (*realloc)(void* p, size_t size);
  void* (*make)(size_t size);  // operator new
};

inline constexpr unsigned kCallSiteCount = 16;

// The first half calls malloc directly. The others share one function that calls it, so that only
// the caller's caller distinguishes them.
extern const std::array<CallSite, kCallSiteCount> kCallSites;

// A compact plan with groups of every kind, from probing the calls: no recording is needed.
std::vector<std::byte> make_call_site_plan();

}  // namespace halo::fuzz
