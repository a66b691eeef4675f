// The context of a variant that places its objects by hints, and the controls of its hints.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <halo/tidy.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/aged_cells.h"
#include "common/rng.h"

namespace variant {

// HALO_BENCH_HINTS chooses what becomes of all hints: they are used, or as a control, "ignored" (no
// hints), "constant", "random" or "reversed" (the last value first).
enum class Hints { kUsed, kIgnored, kConstant, kRandom, kReversed };

inline Hints chosen_hints() {
  const char* const name = std::getenv("HALO_BENCH_HINTS");
  const std::string_view chosen = name == nullptr ? "" : name;
  if (chosen == "ignored") return Hints::kIgnored;
  if (chosen == "constant") return Hints::kConstant;
  if (chosen == "random") return Hints::kRandom;
  if (chosen == "reversed") return Hints::kReversed;
  return Hints::kUsed;
}

// HALO_BENCH_BUCKET is the size of a bucket in bytes. HALO_BENCH_BINS is the number of cells in
// each dimension: with it, they are fixed; without it, they adapt. The cells may be aged
// (aged_cells.h).
class Objects {
 public:
  explicit Objects(unsigned dimensions) : context_(settings(dimensions)) {
    age_cells(context_.get(), dimensions, uses_hints());
  }

  const halo::tidy::context& context() const { return context_; }
  bool uses_hints() const { return hints_ != Hints::kIgnored; }

  // An element of a hint as the control wants it: `value`, which is below `range`.
  unsigned element(uint32_t value, uint32_t range) {
    uint32_t found = value;
    if (hints_ == Hints::kConstant) found = 0;
    if (hints_ == Hints::kRandom) found = rng_below(&rng_, range);
    if (hints_ == Hints::kReversed) found = range - 1 - value;
    return bins_ == 0 ? found : static_cast<unsigned>(uint64_t{found} * bins_ / range);
  }

 private:
  static unsigned long setting(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  }
  static tidy_settings_t settings(unsigned dimensions) {
    tidy_settings_t settings{};
    settings.dimensions = dimensions;
    settings.bucket_bytes = setting("HALO_BENCH_BUCKET");
    settings.flags = setting("HALO_BENCH_BINS") != 0 ? TIDY_EXACT : 0;
    return settings;
  }

  halo::tidy::context context_;
  const Hints hints_ = chosen_hints();
  const unsigned long bins_ = setting("HALO_BENCH_BINS");
  Rng rng_{1};
};

// What allocators allocate while it exists is placed by a hint, or without one if hints are
// ignored.
class Scope {
 public:
  Scope(const Objects& objects, const halo::tidy::hint& hint) {
    if (objects.uses_hints()) {
      scope_.emplace(objects.context(), hint);
    } else {
      scope_.emplace(objects.context());
    }
  }

 private:
  std::optional<halo::tidy::hint_scope> scope_;
};

template <typename T>
using Owner = halo::tidy::unique_ptr<T>;

// An object that is placed by the innermost scope.
template <typename T, typename... Arguments>
Owner<T> make(Arguments&&... arguments) {
  return halo::tidy::make_in_scope<T>(std::forward<Arguments>(arguments)...);
}

}  // namespace variant
