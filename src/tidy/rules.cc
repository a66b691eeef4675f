// Hints by rules, for rewritten programs.
#include <bit>
#include <cstring>

#include "tidy/include/halo/tidy_rules.h"
#include "tidy/page_memory.h"

using halo::tidy::page_memory;

namespace {

template <class T>
double as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}

struct Kind {
  double (*decode)(uint64_t bits);
  unsigned bytes;
};
constexpr Kind kKinds[] = {{as<int8_t>, 1},  {as<uint8_t>, 1},  {as<int16_t>, 2}, {as<uint16_t>, 2},
                           {as<int32_t>, 4}, {as<uint32_t>, 4}, {as<int64_t>, 8}, {as<uint64_t>, 8},
                           {as<float>, 4},   {as<double>, 8}};
static_assert(std::size(kKinds) == TIDY_KINDS);

// Reads the value behind a pointer; false if it is not within a page of Tidy's that is in use, all
// of which is readable.
bool follow(uint64_t pointer, unsigned behind, unsigned bytes, uint64_t& value) {
  const auto* const p = std::bit_cast<const char*>(pointer);
  if (!page_memory.contains(p) || page_memory.heap_of(p) == nullptr) return false;
  const halo::tidy::Place in_page = page_memory.place_of(p) % halo::tidy::kPageBytes;
  if (in_page + behind + bytes > halo::tidy::kPageBytes) return false;
  value = 0;
  std::memcpy(&value, p + behind, bytes);
  return true;
}

// False if a value is not known.
bool make_hint(const tidy_rule_t& rule, const uint64_t* values, unsigned* hint) {
  for (unsigned at = 0; at < rule.dimensions; ++at) {
    const tidy_key_t& key = rule.keys[at];
    const Kind& kind = kKinds[key.kind];
    uint64_t value = values[at];
    if (key.behind >= 0 && !follow(value, static_cast<unsigned>(key.behind), kind.bytes, value))
      return false;
    hint[at] = tidy_bin(kind.decode(value), key.width);
  }
  return true;
}

tidy_ctx_t* context_of(const tidy_rule_t& rule) {
  tidy_ctx_t* context = __atomic_load_n(rule.context, __ATOMIC_ACQUIRE);
  if (context != nullptr) [[likely]]
    return context;
  tidy_settings_t settings{};
  settings.dimensions = rule.dimensions;
  tidy_ctx_t* const made = tidy_create(&settings);
  if (made == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(rule.context, &context, made, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return made;
  tidy_destroy(made);
  return context;
}

}  // namespace

void* tidy_alloc_by_rule(const tidy_rule_t* rule, size_t size, const uint64_t* values,
                         void* (*otherwise)(size_t)) {
  tidy_ctx_t* const context = context_of(*rule);
  if (context == nullptr) return otherwise(size);
  unsigned hint[TIDY_MAX_DIMENSIONS];
  void* const p = tidy_alloc(context, size, make_hint(*rule, values, hint) ? hint : nullptr);
  return p != nullptr ? p : otherwise(size);
}
