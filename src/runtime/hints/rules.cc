#include "runtime/hints/rules.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/single_threaded.h"
#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/code/alignment.h"
#include "runtime/hints/freeing.h"
#include "runtime/hints/reserve.h"
#include "runtime/hints/rule_keys.h"
#include "runtime/identify/callers.h"
#include "tidy/context.h"
#include "tidy/page_memory.h"
#include "tidy/shared_heap.h"

namespace halo::runtime {

constinit bool has_hints = false;

// A rule of the plan and its state in this process.
//
// Concurrency: `address` is written by one thread at a time, under the lock of modules.cc, with
// release; any thread reads it with acquire. `spare` is of tidy/spare.h. `last` is used only while
// the process has one thread, except that any thread clears its heap; if a signal handler changes
// it in between, an object is in a wrong cell. The other members never change.
struct alignas(64) RuleState {
  std::atomic<std::uintptr_t> address;  // of its return address; 0: its module is not placed
  RuleState* next;                      // of the same entry of rules_by_address
  std::uint64_t bytes;                  // of an object
  std::uint32_t by_size, by_16;         // of a block, by its alignment
  RuleKeys keys;
  // The last object, if all its values are quick.
  struct {
    std::atomic<tidy::SharedHeap*> heap;  // nullptr: none, or there may be no spare block
    tidy::SharedHeap::Recent* recent;
    std::uint64_t key;  // of the values
    std::uint64_t values[plan::max_hint_keys];
    std::uint32_t block_bytes;
  } last;
  std::uint32_t module;
  void* spare;          // only of rules that read memory
  std::uintptr_t bias;  // with the address
  std::atomic<tidy::Context*>* context;
};
static_assert(offsetof(RuleState, address) == 0);  // entry.cc

// By the low 12 bits of the return address, which a module's place does not change. Never changed
// after begin_hints.
HALO_HIDDEN extern constinit RuleState* rules_by_address[] asm("halo_hint_rules");
constinit RuleState* rules_by_address[plan::max_hint_rules]{};
static_assert(plan::max_hint_rules == 1u << 12);
static_assert(plan::max_hint_bytes <= tidy::HeapSettings{}.bucket_bytes);

namespace {

constinit RuleState* states = nullptr;
constinit std::size_t state_count = 0;

constinit std::atomic<tidy::Context*> contexts[plan::max_hint_contexts]{};
constinit std::atomic<std::uint64_t> placed{0}, unknown{0};

RuleState*& entry_of(std::uintptr_t address) {
  return rules_by_address[address % plan::max_hint_rules];
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
    state.next = std::exchange(entry_of(rule.offset), &state);
  }
}

// A block for these values; nullptr if memory is refused.
void* allocate_for(RuleState& state, tidy::Context& context, const std::uint64_t* values) {
  const std::uint64_t key = state.keys.key_of(values);
  const std::uint32_t bytes = block_bytes(state);
  void* const p = context.allocate(&key, bytes);
  if (p == nullptr) return nullptr;
  count(placed);
  if (is_single_threaded() && state.keys.are_quick()) {
    tidy::SharedHeap* const heap = tidy::page_memory.heap_of(p);
    state.last.recent = &heap->recent_of(p);
    state.last.key = key;
    std::copy_n(values, plan::max_hint_keys, state.last.values);
    state.last.block_bytes = bytes;
    state.last.heap.store(heap, std::memory_order_relaxed);
  }
  return p;
}

[[gnu::noinline]] void* take_reserve(RuleState& state, Reserve& reserve) {
  state.last.heap.store(nullptr, std::memory_order_relaxed);
  return reserve.take();
}

// The slot of the return address is behind the registers.
CallState call_of(const std::uint64_t* registers) {
  return {registers, reinterpret_cast<const std::uintptr_t*>(registers + plan::hint_registers)};
}

[[gnu::noinline]] void* allocate_by_rule(RuleState& state, const std::uint64_t* registers) {
  tidy::Context* const context = context_of(state);
  if (context == nullptr) return nullptr;
  const CallState call = call_of(registers);
  std::uint64_t values[plan::max_hint_keys] = {};
  if (!state.keys.reads_memory()) {
    state.keys.read(state.bias, call, values);
    return allocate_for(state, *context, values);
  }
  // With it the allocation cannot fail: values are read as after one that succeeded.
  Reserve reserve(state.spare, *context, block_bytes(state));
  if (!reserve) return nullptr;
  if (!state.keys.read(state.bias, call, values)) {
    count(unknown);
    return take_reserve(state, reserve);
  }
  void* const p = allocate_for(state, *context, values);
  return p != nullptr ? p : take_reserve(state, reserve);
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

RuleState* find_rule(std::uintptr_t address) {
  RuleState* state = entry_of(address);
  while (state != nullptr && state->address.load(std::memory_order_acquire) != address)
    state = state->next;
  return state;
}

// A block that was freed lately, if the values are the last ones; else by the rule. While `last`
// has a heap, there is a spare block, so values may be read.
void* allocate_hinted(std::size_t size, const std::uint64_t* registers, RuleState* state) {
  if (size != state->bytes) [[unlikely]]
    return nullptr;
  const auto& last = state->last;
  tidy::SharedHeap* const heap = last.heap.load(std::memory_order_relaxed);
  const std::uint32_t bytes = block_bytes(*state);
  const bool may_be_last = is_single_threaded() && heap != nullptr && bytes == last.block_bytes;
  if (may_be_last && state->keys.give(last.values, call_of(registers))) [[likely]]
    if (void* const p = heap->allocate_recent(*last.recent, last.key, bytes)) [[likely]] {
      count(placed);
      return p;
    }
  return allocate_by_rule(*state, registers);
}

HintBytes hint_bytes() {
  if (!has_hints) return {};
  HintBytes sum{0, 0, tidy::page_memory.dirty_bytes(), tidy::page_memory.opened_bytes()};
  for (const auto& entry : contexts) {
    const tidy::Context* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr || context == no_context()) continue;
    const tidy::HeapBytes part = context->bytes();
    sum.live += part.live;
    sum.active += part.resident;
  }
  return sum;
}

std::size_t purge_hinted() { return has_hints ? tidy::page_memory.purge() : 0; }

HintCounts hint_counts() {
  return {placed.load(std::memory_order_relaxed), unknown.load(std::memory_order_relaxed)};
}

}  // namespace halo::runtime
