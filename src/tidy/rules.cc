// Hints by rules, for rewritten programs.
#include <sys/single_threaded.h>

#include <bit>
#include <cstring>
#include <utility>

#include "base/keep_errno.h"
#include "tidy/freeing.h"
#include "tidy/include/halo/tidy_rules.h"
#include "tidy/page_memory.h"

using halo::tidy::page_memory;

namespace {

constexpr size_t kAlignment = 16;  // malloc's

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

// What stands for the context of rules if there is no memory for one: no allocation tries again.
tidy_ctx_t* refused_context() {
  static char mark;
  return reinterpret_cast<tidy_ctx_t*>(&mark);
}

// nullptr if there is no memory for it.
tidy_ctx_t* context_of(const tidy_rule_t& rule) {
  tidy_ctx_t* context = __atomic_load_n(rule.context, __ATOMIC_ACQUIRE);
  if (context == nullptr) [[unlikely]] {
    const halo::KeepErrno keep;
    tidy_settings_t settings{};
    settings.dimensions = rule.dimensions;
    tidy_ctx_t* const made = tidy_create(&settings);
    tidy_ctx_t* const wanted = made == nullptr ? refused_context() : made;
    if (__atomic_compare_exchange_n(rule.context, &context, wanted, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      context = wanted;
    } else {
      tidy_destroy(made);
    }
  }
  return context == refused_context() ? nullptr : context;
}

// Atomic only if there are other threads.
void* exchange(void** word, void* with) {
  if (__libc_single_threaded) return std::exchange(*word, with);
  return __atomic_exchange_n(word, with, __ATOMIC_ACQ_REL);
}

}  // namespace

void* tidy_reserve(const tidy_rule_t* rule, size_t size, void* (*allocator)(size_t)) {
  if (!halo::tidy::frees_blocks_of(allocator)) return nullptr;
  tidy_ctx_t* const context = context_of(*rule);
  if (context == nullptr) return nullptr;
  if (void* const spare = exchange(rule->spare, nullptr)) [[likely]]
    return spare;
  const halo::KeepErrno keep;
  return tidy_alloc_aligned(context, kAlignment, size, nullptr);
}

void* tidy_place(const tidy_rule_t* rule, size_t size, void* reserved, const uint64_t* values) {
  unsigned hint[TIDY_MAX_DIMENSIONS] = {};
  if (!make_hint(*rule, values, hint)) return reserved;
  const halo::KeepErrno keep;
  void* const p = tidy_alloc_aligned(context_of(*rule), kAlignment, size, hint);
  if (p == nullptr) return reserved;
  if (void* const other = exchange(rule->spare, reserved)) tidy_free(other);
  return p;
}
