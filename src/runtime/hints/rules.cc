#include "runtime/hints/rules.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "base/keep_errno.h"
#include "base/keep_float_state.h"
#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/hints/freeing.h"
#include "runtime/identify/callers.h"
#include "tidy/context.h"
#include "tidy/spare.h"
#include "tidy/values.h"

namespace halo::runtime {

constinit bool has_hints = false;

namespace {

// A rule of the plan and its state in this process.
//
// Concurrency: `address` is written by one thread at a time, under the lock of modules.cc, with
// release; any thread reads it with acquire. The other members but `spare` never change. `spare` is
// of tidy/spare.h.
struct RuleState {
  std::atomic<std::uintptr_t> address;  // of its return address; 0: its module is not placed
  std::uintptr_t bias;                  // with the address
  const plan::HintRule* rule;
  std::uint32_t first_key;
  void* spare;
};

// Never changed after begin_hints.
struct KeyState {
  const plan::HintKey* key;
  std::uint32_t first_operation;
  bool is_as_before;  // the key before it has the same rule and program
};

constinit RuleState* states = nullptr;
constinit KeyState* keys = nullptr;

// Open addressing by the low 12 bits of the return address, which a module's place does not change:
// numbers of rules plus one; 0: empty. Never changed after begin_hints.
constinit std::uint16_t* index = nullptr;
constinit std::uint32_t index_mask = 0;
static_assert(plan::max_hint_rules < UINT16_MAX);
static_assert(plan::max_hint_bytes <= tidy::HeapSettings{}.bucket_bytes);

constinit std::atomic<tidy::Context*> contexts[plan::max_hint_contexts]{};
constinit std::atomic<std::uint64_t> placed{0}, unknown{0};

std::uint32_t hash(std::uintptr_t address) {
  return static_cast<std::uint32_t>(address & 0xFFF) * 0x9E3779B1u >> 16;
}

// Stands for a context that could not be made: no allocation tries again.
tidy::Context* no_context() {
  static constinit char mark = 0;
  return reinterpret_cast<tidy::Context*>(&mark);
}

tidy::Context* make_context(std::atomic<tidy::Context*>& entry, std::uint32_t dimensions) {
  tidy::ContextSettings settings;
  settings.keys = {dimensions, {}};
  tidy::Context* const made = tidy::Context::make(settings);
  tidy::Context* expected = nullptr;
  tidy::Context* const wanted = made == nullptr ? no_context() : made;
  if (entry.compare_exchange_strong(expected, wanted, std::memory_order_acq_rel)) return wanted;
  if (made != nullptr) made->destroy();
  return expected;
}

tidy::Context* context_of(const plan::HintRule& rule) {
  std::atomic<tidy::Context*>& entry = contexts[rule.context];
  tidy::Context* context = entry.load(std::memory_order_acquire);
  if (context == nullptr) [[unlikely]]
    context = make_context(entry, rule.keys);
  return context == no_context() ? nullptr : context;
}

// What the block's size must be a multiple of: Tidy aligns a block by its size, up to 16 bytes.
std::uint32_t alignment_of(const plan::HintRule& rule) {
  return (rule.flags & plan::hint_by_size) != 0 && !aligns_all_to_16() ? 8 : 16;
}

RuleState* state_of(std::uintptr_t address) {
  for (std::uint32_t at = hash(address);; ++at) {
    const std::uint16_t number = index[at & index_mask];
    if (number == 0) return nullptr;
    RuleState& state = states[number - 1];
    if (state.address.load(std::memory_order_acquire) == address) return &state;
  }
}

// Keys of one pointer follow each other: its program runs once.
[[gnu::noinline]] bool make_hint(const RuleState& state, const CallState& call, unsigned* hint) {
  const plan::HintRule& rule = *state.rule;
  std::optional<std::uint64_t> value;
  for (std::uint32_t at = 0; at < rule.keys; ++at) {
    const KeyState& own = keys[state.first_key + at];
    const plan::HintKey& key = *own.key;
    if (!own.is_as_before) {
      const auto program =
          active_plan.hints.operations.subspan(own.first_operation, key.operations);
      value = run_program(program, rule, state.bias, call);
    }
    if (!value || !tidy::element_of(*value, key.kind, key.behind, key.width, hint[at]))
      return false;
  }
  return true;
}

void count(std::atomic<std::uint64_t>& counter) {
  if (keeping_stats) counter.fetch_add(1, std::memory_order_relaxed);
}

bool are_equal(const plan::Hints& hints, const KeyState& one, const KeyState& other) {
  const auto program = [&](const KeyState& of) {
    return std::as_bytes(hints.operations.subspan(of.first_operation, of.key->operations));
  };
  const auto a = program(one), b = program(other);
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill(const plan::Hints& hints) {
  std::uint32_t key = 0, operation = 0;
  for (std::uint32_t number = 0; number < hints.rules.size(); ++number) {
    const plan::HintRule& rule = hints.rules[number];
    states[number].rule = &rule;
    states[number].first_key = key;
    for (const std::uint32_t end = key + rule.keys; key < end; ++key) {
      const plan::HintKey& own = hints.keys[key];
      keys[key] = {&own, operation, false};
      if (key != states[number].first_key)
        keys[key].is_as_before = are_equal(hints, keys[key - 1], keys[key]);
      operation += own.operations;
    }
    std::uint32_t at = hash(rule.offset);
    while (index[at & index_mask] != 0) ++at;
    index[at & index_mask] = static_cast<std::uint16_t>(number + 1);
  }
}

}  // namespace

void begin_hints() {
  const plan::Hints& hints = active_plan.hints;
  if (hints.rules.empty() || !tidy::Context::open()) return;
  const std::size_t entries = std::bit_ceil(2 * hints.rules.size());
  const std::size_t bytes = hints.rules.size() * sizeof(RuleState) +
                            hints.keys.size() * sizeof *keys + entries * sizeof *index;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  states = static_cast<RuleState*>(memory);
  keys = reinterpret_cast<KeyState*>(states + hints.rules.size());
  index = reinterpret_cast<std::uint16_t*>(keys + hints.keys.size());
  index_mask = static_cast<std::uint32_t>(entries - 1);
  fill(hints);
  free_hinted_blocks();
  has_hints = true;
}

void place_hints(std::uint32_t module, std::uintptr_t bias) {
  if (!has_hints) return;
  for (std::size_t number = 0; number < active_plan.hints.rules.size(); ++number) {
    RuleState& state = states[number];
    if (state.rule->module != module) continue;
    state.bias = bias;
    state.address.store(bias + state.rule->offset, std::memory_order_release);
    add_caller({bias + state.rule->offset, code_hinted});
  }
}

void remove_hints(std::uint32_t module) {
  if (!has_hints) return;
  for (std::size_t number = active_plan.hints.rules.size(); number-- > 0;) {
    RuleState& state = states[number];
    const std::uintptr_t address = state.address.load(std::memory_order_relaxed);
    if (state.rule->module != module || address == 0) continue;
    remove_caller(address);
    state.address.store(0, std::memory_order_release);
  }
}

void* allocate_hinted(std::size_t size, const CallState& call) {
  RuleState* const state = state_of(*call.slot);
  if (state == nullptr || size != state->rule->bytes) return nullptr;
  tidy::Context* const context = context_of(*state->rule);
  if (context == nullptr) return nullptr;
  const KeepErrno keep;
  const std::uint32_t alignment = alignment_of(*state->rule);
  const std::uint32_t bytes = (state->rule->bytes + alignment - 1) & ~(alignment - 1);
  // From here on, the allocation cannot fail: the values are read as after one that succeeded.
  void* reserved = tidy::exchange_spare(&state->spare, nullptr);
  if (reserved != nullptr && reinterpret_cast<std::uintptr_t>(reserved) % alignment != 0) {
    free_hinted(reserved);  // it is from before code was loaded that needs 16 bytes
    reserved = nullptr;
  }
  if (reserved == nullptr) reserved = context->allocate(nullptr, bytes);
  if (reserved == nullptr) return nullptr;
  unsigned hint[plan::max_hint_keys] = {};
  const KeepFloatState keep_float;
  if (!make_hint(*state, call, hint)) {
    count(unknown);
    return reserved;
  }
  const std::uint64_t key = context->key(hint);
  void* const p = context->allocate(&key, bytes);
  if (p == nullptr) return reserved;
  count(placed);
  if (void* const other = tidy::exchange_spare(&state->spare, reserved)) free_hinted(other);
  return p;
}

HintCounts hint_counts() {
  return {placed.load(std::memory_order_relaxed), unknown.load(std::memory_order_relaxed)};
}

}  // namespace halo::runtime
