// Unwinds the stack with libunwind, reduces it, follows the trie by addresses alone, and counts
// walks with a different verdict.
#ifdef HALO_CHECK

#define UNW_LOCAL_ONLY
#include "runtime/diagnose/check.h"

#include <libunwind.h>

#include <atomic>

namespace halo::runtime {
namespace {

constexpr int kMaxFrames = 1024;
constinit std::atomic<uint64_t> walks{0};
constinit std::atomic<uint64_t> differences{0};
// libunwind may allocate; such allocations are not checked.
__attribute__((tls_model("initial-exec"))) thread_local bool checking = false;

// The program's return addresses, innermost first; the runtime's own frames come before the one at
// `slot`.
int unwind(const uintptr_t* slot, uintptr_t* into) {
  unw_context_t context;
  unw_cursor_t cursor;
  if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0) return 0;
  int count = 0;
  bool outside = false;
  while (count < kMaxFrames && unw_step(&cursor) > 0) {
    unw_word_t ip, sp;
    if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) != 0)
      break;
    // After the return to the program, its stack pointer is directly above the slot.
    outside = outside || sp == reinterpret_cast<uintptr_t>(slot + 1);
    if (outside) into[count++] = ip;
  }
  return count;
}

bool seen_before(const uintptr_t* addresses, int count, uintptr_t address) {
  for (int i = 0; i < count; ++i)
    if (addresses[i] == address) return true;
  return false;
}

uint32_t child_of(const Table& table, uint32_t parent, uintptr_t address) {
  for (uint32_t i = 1; i < table.state_count; ++i)
    if (table.states[i].parent == parent && table.states[i].address == address) return i;
  return 0;
}

// The group of the reduced stack, found without distances, hashes or skipping. If a walk ends in a
// state by rule, that state forwards, as the planner assumes.
uint16_t expected_group(const Table& table, const uintptr_t* frames, int count) {
  uint32_t state = 0;
  for (int i = 0; i < count; ++i) {
    if (seen_before(frames, i, frames[i])) continue;
    state = child_of(table, state, frames[i]);
    if (state == 0) break;
    const State& now = table.states[state];
    if (!now.undecided) return verdict_of(now.code, 0).group;
    if (now.rule == plan::Rule::kEnd) break;
  }
  return plan::kVerdictForward;
}

}  // namespace

void check_walk(const Table& table, const uintptr_t* slot, Verdict verdict) {
  if (checking) return;
  checking = true;
  uintptr_t frames[kMaxFrames];
  const int count = unwind(slot, frames);
  walks.fetch_add(1, std::memory_order_relaxed);
  if (count == 0 || expected_group(table, frames, count) != verdict.group)
    differences.fetch_add(1, std::memory_order_relaxed);
  checking = false;
}

CheckCounts check_counts() { return {walks.load(), differences.load()}; }

}  // namespace halo::runtime

#endif
