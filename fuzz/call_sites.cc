// Templates give each site its own code.
#include "fuzz/call_sites.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "fuzz/frame.h"
#include "fuzz/loaded_modules.h"
#include "fuzz/own_module.h"
#include "plan/plan_builder.h"

// While the plan is made, the calls lead to probes that record their return addresses. Compiled
// with frame pointers.
namespace halo::fuzz {
namespace {

using plan::PlanBuilder;
using plan::Rule;

constexpr unsigned kGroups = 8;

struct Functions {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*make)(size_t);
};
constinit Functions functions{std::malloc, std::calloc, std::realloc, ::operator new };

// Keeps the call before it from becoming a jump, and the code of two sites from being merged.
template <unsigned Site>
inline void* from(void* p) {
  asm volatile("" : "+r"(p) : "i"(Site));
  return p;
}

template <unsigned Site>
[[gnu::noinline]] void* malloc_here(size_t size) {
  return from<Site>(functions.malloc(size));
}

[[gnu::noinline]] void* malloc_shared(size_t size) {
  return from<kCallSiteCount>(functions.malloc(size));
}

template <unsigned Site>
[[gnu::noinline]] void* malloc_through(size_t size) {
  return from<Site>(malloc_shared(size));
}

template <unsigned Site>
[[gnu::noinline]] void* calloc_here(size_t size) {
  return from<Site>(functions.calloc(1, size));
}

template <unsigned Site>
[[gnu::noinline]] void* realloc_here(void* p, size_t size) {
  return from<Site>(functions.realloc(p, size));
}

template <unsigned Site>
[[gnu::noinline]] void* new_here(size_t size) {
  return from<Site>(functions.make(size));
}

template <unsigned Site>
constexpr CallSite site() {
  constexpr bool kDirect = Site < kCallSiteCount / 2;
  return {kDirect ? malloc_here<Site> : malloc_through<Site>, calloc_here<Site>, realloc_here<Site>,
          new_here<Site>};
}

// The two innermost frames of the latest call that reached a probe.
constinit Frame seen[2]{};

inline void* note(const void* own_frame) {
  const auto* frame = static_cast<const uintptr_t*>(own_frame);
  for (Frame& into : seen) {
    const auto* outer = reinterpret_cast<const uintptr_t*>(frame[0]);
    into = {frame[1], static_cast<int32_t>((outer - frame) * 8)};
    frame = outer;
  }
  return nullptr;
}

void* probe_malloc(size_t) { return note(__builtin_frame_address(0)); }
void* probe_calloc(size_t, size_t) { return note(__builtin_frame_address(0)); }
void* probe_realloc(void*, size_t) { return note(__builtin_frame_address(0)); }

// Builds the plan's states from the probes' records.
class Learner {
 public:
  void learn(unsigned number, const CallSite& site) {
    const auto group = static_cast<uint16_t>(number % kGroups);
    const bool direct = number < kCallSiteCount / 2;
    site.malloc(8);
    if (direct)
      add(0, seen[0], group);
    else
      add(shared(seen[0]), seen[1], group);
    site.calloc(8);
    add(0, seen[0], group);
    site.realloc(nullptr, 8);
    add(0, seen[0], group);
    site.make(8);
    add(0, seen[0], group);
  }

  PlanBuilder& builder() { return builder_; }

 private:
  void add(uint32_t parent, const Frame& frame, uint16_t group) {
    builder_.state(parent, frame.address - own_bias(), group, 0, Rule::kEnd);
  }

  uint32_t shared(const Frame& frame) {
    const auto [at, added] = shared_.try_emplace(frame.address, 0);
    if (added)
      at->second =
          builder_.state(0, frame.address - own_bias(), plan::kVerdictUndecided, frame.step);
    return at->second;
  }

  PlanBuilder builder_;
  std::map<uintptr_t, uint32_t> shared_;
};

template <unsigned... Site>
constexpr std::array<CallSite, sizeof...(Site)> make_sites(
    std::integer_sequence<unsigned, Site...>) {
  return {site<Site>()...};
}

}  // namespace

constinit const std::array<CallSite, kCallSiteCount> kCallSites =
    make_sites(std::make_integer_sequence<unsigned, kCallSiteCount>());

std::vector<std::byte> make_call_site_plan() {
  Learner learner;
  learner.builder().module(kOwnBuildId);
  for (unsigned i = 0; i < kGroups; ++i)
    learner.builder().group(i % 2 == 0 ? plan::Reuse::kNewestFirst : plan::Reuse::kWholeChunks);
  const Functions real =
      std::exchange(functions, Functions{probe_malloc, probe_calloc, probe_realloc, probe_malloc});
  for (unsigned i = 0; i < kCallSiteCount; ++i) learner.learn(i, kCallSites[i]);
  functions = real;
  // No code of this process reads blocks by aligned vectors.
  for (const std::vector<uint8_t>& id : all_build_ids()) learner.builder().checked(id);
  std::vector<std::byte> bytes = learner.builder().bytes();
  for (unsigned i = 0; i < kGroups; ++i) set_group_flags(bytes, i, i / 2);
  PlanBuilder::seal(bytes);
  return bytes;
}

}  // namespace halo::fuzz
