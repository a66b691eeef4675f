#include "runtime/entry/allocators/jemalloc_blocks.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "runtime/serve/served_blocks.h"

namespace halo::runtime::statistics {
namespace {

// What jemalloc writes about a block: of several, the short form.
struct Utilization {
  size_t free_count, count, bytes;
};
struct LongUtilization {
  const void* current_slab;
  Utilization extent;
  size_t free_of_all, all;
};

Utilization utilization_of(void* p) { return {0, 1, usable_size(p)}; }

// The block that is asked about; null if jemalloc's own answer is the right one.
void* served_block(const Question& question) {
  void* p = nullptr;
  if (question.now == nullptr || question.now_bytes != sizeof p) return nullptr;
  std::memcpy(&p, question.now, sizeof p);
  return is_served(p) ? p : nullptr;
}

bool has_room(const Question& question, size_t bytes) {
  return question.old != nullptr && question.old_bytes != nullptr && *question.old_bytes == bytes;
}

}  // namespace

int look_up_arena(const Question& question, AskNative native) {
  if (served_block(question) == nullptr) return native(question);
  constexpr unsigned kArena = 0;
  if (question.old == nullptr || question.old_bytes == nullptr) return 0;
  if (!has_room(question, sizeof kArena)) return EINVAL;
  std::memcpy(question.old, &kArena, sizeof kArena);
  return 0;
}

int query_utilization(const Question& question, AskNative native) {
  void* const p = served_block(question);
  if (p == nullptr) return native(question);
  if (!has_room(question, sizeof(LongUtilization))) return EINVAL;
  const LongUtilization answer{nullptr, utilization_of(p), 0, 0};
  std::memcpy(question.old, &answer, sizeof answer);
  return 0;
}

int query_utilizations(const Question& question, AskNative native) {
  const std::span blocks(static_cast<void**>(question.now), question.now_bytes / sizeof(void*));
  const bool is_valid = question.now != nullptr && blocks.size_bytes() == question.now_bytes &&
                        has_room(question, blocks.size() * sizeof(Utilization));
  if (!is_valid || std::ranges::none_of(blocks, is_served)) return native(question);
  auto* answer = static_cast<Utilization*>(question.old);
  for (void*& p : blocks) {
    size_t bytes = sizeof *answer;
    if (is_served(p))
      *answer = utilization_of(p);
    else if (const int status = native({answer, &bytes, &p, sizeof p}); status != 0)
      return status;
    ++answer;
  }
  return 0;
}

}  // namespace halo::runtime::statistics
