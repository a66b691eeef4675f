// Hints by rules, for rewritten programs.
#include <pthread.h>

#include "base/keep_errno.h"
#include "base/keep_float_state.h"
#include "tidy/context.h"
#include "tidy/freeing.h"
#include "tidy/include/halo/tidy_rules.h"
#include "tidy/spare.h"
#include "tidy/values.h"

namespace {

constexpr size_t kAlignment = 16;  // malloc's

// False if a value is not known.
[[gnu::noinline]] bool make_hint(const tidy_rule_t& rule, const uint64_t* values, unsigned* hint) {
  for (unsigned at = 0; at < rule.dimensions; ++at) {
    const tidy_key_t& key = rule.keys[at];
    if (!halo::tidy::element_of(values[at], key.kind, key.behind, key.width, hint[at]))
      return false;
  }
  return true;
}

// What stands for the context of rules if there is no memory for one: no allocation tries again.
tidy_ctx_t* refused_context() {
  static char mark;
  return reinterpret_cast<tidy_ctx_t*>(&mark);
}

// The contexts of rules by their identity, so that a plug-in that is loaded again has those that it
// had. Used under the mutex; entries are only added.
struct Known {
  uint64_t identity;
  tidy_ctx_t* context;
};
Known known[halo::tidy::Context::kMaxContexts];

tidy_ctx_t* find_or_create(const tidy_rule_t& rule) {
  tidy_settings_t settings{};
  settings.dimensions = rule.dimensions;
  tidy_ctx_t* found = nullptr;
  pthread_mutex_lock(&halo::tidy::Context::rules_mutex);
  for (Known& one : known) {
    if (one.context == nullptr) one = {rule.identity, tidy_create(&settings)};
    if (one.identity != rule.identity) continue;
    found = one.context;
    break;
  }
  pthread_mutex_unlock(&halo::tidy::Context::rules_mutex);
  return found;
}

// nullptr if there is no memory for it.
tidy_ctx_t* context_of(const tidy_rule_t& rule) {
  tidy_ctx_t* context = __atomic_load_n(rule.context, __ATOMIC_ACQUIRE);
  if (context == nullptr) [[unlikely]] {
    const halo::KeepErrno keep;
    tidy_ctx_t* const found = find_or_create(rule);
    context = found == nullptr ? refused_context() : found;
    __atomic_store_n(rule.context, context, __ATOMIC_RELEASE);
  }
  return context == refused_context() ? nullptr : context;
}

}  // namespace

void* tidy_reserve(const tidy_rule_t* rule) {
  if (!halo::tidy::may_replace(*rule->functions)) return nullptr;
  tidy_ctx_t* const context = context_of(*rule);
  if (context == nullptr) return nullptr;
  if (void* const spare = halo::tidy::exchange_spare(rule->spare, nullptr)) [[likely]]
    return spare;
  const halo::KeepErrno keep;
  return tidy_alloc_aligned(context, kAlignment, rule->bytes, nullptr);
}

void* tidy_place(const tidy_rule_t* rule, void* reserved, const uint64_t* values) {
  unsigned hint[TIDY_MAX_DIMENSIONS] = {};
  const halo::KeepFloatState keep_float;
  if (!make_hint(*rule, values, hint)) return reserved;
  const halo::KeepErrno keep;
  tidy_ctx_t* const context = __atomic_load_n(rule->context, __ATOMIC_RELAXED);
  void* const p = tidy_alloc_aligned(context, kAlignment, rule->bytes, hint);
  if (p == nullptr) return reserved;
  if (void* const other = halo::tidy::exchange_spare(rule->spare, reserved)) tidy_free(other);
  return p;
}
