#include "runtime/hints/rules.h"

#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <algorithm>
#include <atomic>

#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/hints/freeing.h"
#include "runtime/hints/reserve.h"
#include "runtime/hints/rule_keys.h"
#include "runtime/identify/callers.h"
#include "tidy/context.h"

namespace halo::runtime {

constinit bool has_hints = false;

namespace {

// A rule of the plan and its state in this process.
//
// Concurrency: `address` is written by one thread at a time, under the lock of modules.cc, with
// release; any thread reads it with acquire. `spare` is of tidy/spare.h. The `last` members are
// used only while the process has one thread; if a signal handler changes them in between, an
// object is in a wrong cell. The other members never change.
struct alignas(64) RuleState {
  std::atomic<std::uintptr_t> address;  // of its return address; 0: its module is not placed
  std::uintptr_t bias;                  // with the address
  std::atomic<tidy::Context*>* context;
  void* spare;                   // only of rules that read memory
  std::uint32_t bytes;           // of an object
  std::uint32_t by_size, by_16;  // of a block, by its alignment
  std::uint32_t module;
  RuleKeys keys;
  tidy::Context* last_context;  // nullptr: none yet
  std::uint64_t last_key;       // of last_values
  std::uint64_t last_values[plan::max_hint_keys];
};

constinit RuleState* states = nullptr;
constinit std::size_t state_count = 0;

// Open addressing by the low 12 bits of the return address, which a module's place does not change:
// numbers of rules plus one; 0: empty. Never changed after begin_hints.
constexpr std::uint32_t index_entries = 2 * plan::max_hint_rules;
constinit std::uint16_t index[index_entries]{};
static_assert(plan::max_hint_rules == 1u << 12);
static_assert(plan::max_hint_bytes <= tidy::HeapSettings{}.bucket_bytes);

constinit std::atomic<tidy::Context*> contexts[plan::max_hint_contexts]{};
constinit std::atomic<std::uint64_t> placed{0}, unknown{0};

std::uint32_t hash(std::uintptr_t address) {
  return static_cast<std::uint32_t>(address % plan::max_hint_rules) * 2;
}

// Stands for a context that could not be made: no allocation tries again.
tidy::Context* no_context() {
  static constinit char mark = 0;
  return reinterpret_cast<tidy::Context*>(&mark);
}

tidy::Context* make_context(std::atomic<tidy::Context*>& entry, const tidy::KeyMaker& keys) {
  tidy::ContextSettings settings;
  settings.keys = keys;
  tidy::Context* const made = tidy::Context::make(settings);
  tidy::Context* expected = nullptr;
  tidy::Context* const wanted = made == nullptr ? no_context() : made;
  if (entry.compare_exchange_strong(expected, wanted, std::memory_order_acq_rel)) return wanted;
  if (made != nullptr) made->destroy();
  return expected;
}

tidy::Context* context_of(const RuleState& state) {
  tidy::Context* context = state.context->load(std::memory_order_acquire);
  if (context == nullptr) [[unlikely]]
    context = make_context(*state.context, state.keys.maker());
  return context == no_context() ? nullptr : context;
}

std::uint32_t block_bytes(const RuleState& state) {
  return aligns_all_to_16() ? state.by_16 : state.by_size;
}

RuleState* state_of(std::uintptr_t address) {
  for (std::uint32_t at = hash(address);; ++at) {
    const std::uint16_t number = index[at % index_entries];
    if (number == 0) return nullptr;
    RuleState& state = states[number - 1];
    if (state.address.load(std::memory_order_acquire) == address) return &state;
  }
}

void count(std::atomic<std::uint64_t>& counter) {
  if (keeping_stats) counter.fetch_add(1, std::memory_order_relaxed);
}

void fill(const plan::Hints& hints, RuleKey* keys) {
  std::size_t key = 0, operation = 0;
  for (std::size_t number = 0; number < hints.rules.size(); ++number) {
    const plan::HintRule& rule = hints.rules[number];
    RuleState& state = states[number];
    state.context = &contexts[rule.context];
    state.bytes = rule.bytes;
    state.by_16 = (rule.bytes + 15) / 16 * 16;
    state.by_size = (rule.flags & plan::hint_by_size) != 0 ? (rule.bytes + 7) / 8 * 8 : state.by_16;
    state.module = rule.module;
    state.keys.prepare(hints, rule, keys + key, key, operation);
    std::uint32_t at = hash(rule.offset);
    while (index[at % index_entries] != 0) ++at;
    index[at % index_entries] = static_cast<std::uint16_t>(number + 1);
  }
}

// For values that are the last ones: a block that was freed lately; nullptr if there is none.
[[gnu::always_inline]] inline void* allocate_as_last(const RuleState& state) {
  void* const p = state.last_context->allocate_recent(state.last_key, block_bytes(state));
  if (p != nullptr) count(placed);
  return p;
}

// A block for these values; nullptr if memory is refused.
void* allocate_for(RuleState& state, tidy::Context& context, const std::uint64_t* values) {
  const std::uint64_t key = state.keys.key_of(values);
  void* const p = context.allocate(&key, block_bytes(state));
  if (p == nullptr) return nullptr;
  count(placed);
  if (__libc_single_threaded) {
    std::copy_n(values, plan::max_hint_keys, state.last_values);
    state.last_key = key;
    state.last_context = &context;
  }
  return p;
}

[[gnu::noinline]] void* allocate_by_rule(RuleState& state, const std::uint64_t* registers,
                                         const std::uintptr_t* slot) {
  tidy::Context* const context = context_of(state);
  if (context == nullptr) return nullptr;
  std::uint64_t values[plan::max_hint_keys] = {};
  if (!state.keys.reads_memory()) {
    state.keys.read(state.bias, {registers, slot}, values);
    return allocate_for(state, *context, values);
  }
  // With it the allocation cannot fail: values are read as after one that succeeded.
  Reserve reserve(state.spare, *context, block_bytes(state));
  if (!reserve) return nullptr;
  if (!state.keys.read(state.bias, {registers, slot}, values)) {
    count(unknown);
    return reserve.take();
  }
  void* const p = allocate_for(state, *context, values);
  return p != nullptr ? p : reserve.take();
}

// In a process with one thread; a spare block stays where it is (Reserve).
[[gnu::noinline]] void* allocate_after_reading(RuleState& state, const std::uint64_t* registers,
                                               const std::uintptr_t* slot) {
  const void* const spare = __atomic_load_n(&state.spare, __ATOMIC_RELAXED);
  if (is_spare(spare, block_bytes(state)) && state.keys.give(state.last_values, registers, slot))
      [[likely]]
    if (void* const p = allocate_as_last(state)) [[likely]]
      return p;
  return allocate_by_rule(state, registers, slot);
}

}  // namespace

void begin_hints() {
  const plan::Hints& hints = active_plan.hints;
  if (hints.rules.empty() || !tidy::Context::open()) return;
  const std::size_t bytes =
      hints.rules.size() * sizeof(RuleState) + hints.keys.size() * sizeof(RuleKey);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  states = static_cast<RuleState*>(memory);
  state_count = hints.rules.size();
  fill(hints, reinterpret_cast<RuleKey*>(states + state_count));
  free_hinted_blocks();
  has_hints = true;
}

void place_hints(std::uint32_t module, std::uintptr_t bias) {
  if (!has_hints) return;
  for (std::size_t number = 0; number < state_count; ++number) {
    RuleState& state = states[number];
    if (state.module != module) continue;
    const std::uintptr_t address = bias + active_plan.hints.rules[number].offset;
    state.bias = bias;
    state.address.store(address, std::memory_order_release);
    add_caller({address, code_hinted});
  }
}

void remove_hints(std::uint32_t module) {
  if (!has_hints) return;
  for (std::size_t number = state_count; number-- > 0;) {
    RuleState& state = states[number];
    const std::uintptr_t address = state.address.load(std::memory_order_relaxed);
    if (state.module != module || address == 0) continue;
    remove_caller(address);
    state.address.store(0, std::memory_order_release);
  }
}

// Without a call on the way of a value in a register, so that nothing is stored.
void* allocate_hinted(std::size_t size, const std::uint64_t* registers,
                      const std::uintptr_t* slot) {
  RuleState* const state = state_of(*slot);
  if (state == nullptr || size != state->bytes) [[unlikely]]
    return nullptr;
  if (!__libc_single_threaded || state->last_context == nullptr) [[unlikely]]
    return allocate_by_rule(*state, registers, slot);
  if (state->keys.only_register() < 0) return allocate_after_reading(*state, registers, slot);
  if (registers[state->keys.only_register()] == state->last_values[0]) [[likely]]
    if (void* const p = allocate_as_last(*state)) [[likely]]
      return p;
  return allocate_by_rule(*state, registers, slot);
}

HintCounts hint_counts() {
  return {placed.load(std::memory_order_relaxed), unknown.load(std::memory_order_relaxed)};
}

}  // namespace halo::runtime
