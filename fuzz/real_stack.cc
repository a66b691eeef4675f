// Compiled with frame pointers, which lead from one return address to the next.
#include "fuzz/real_stack.h"

#include "fuzz/core.h"

namespace halo::fuzz {
namespace {

constexpr int kKnownFrames = 5;

struct Visit {
  const runtime::Table* table;  // null: record the frames
  std::vector<Frame> frames;
  runtime::Verdict verdict;
};

// Placed behind a call, so that it is not a jump.
inline void stay() { asm volatile("" ::: "memory"); }

[[gnu::noinline]] void innermost(Visit& visit) {
  const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  if (visit.table == nullptr) {
    for (int i = 0; i < kKnownFrames; ++i) {
      const auto* outer = reinterpret_cast<const uintptr_t*>(frame[0]);
      visit.frames.push_back({frame[1], static_cast<int32_t>((outer - frame) * 8)});
      frame = outer;
    }
    return;
  }
  visit.verdict = core_walk(*visit.table, frame + 1, frame[0]);
}

[[gnu::noinline]] void middle(Visit& visit, int depth) {
  if (depth != 0)
    middle(visit, depth - 1);
  else
    innermost(visit);
  stay();
}

[[gnu::noinline]] void outer(Visit& visit) {
  middle(visit, 2);
  stay();
}

[[gnu::noinline]] void enter(Visit& visit) {
  outer(visit);
  stay();
}

}  // namespace

std::vector<Frame> learn_frames() {
  Visit visit{};
  enter(visit);
  return visit.frames;
}

runtime::Verdict walk_real_stack(const runtime::Table& table) {
  Visit visit{&table, {}, {}};
  enter(visit);
  return visit.verdict;
}

}  // namespace halo::fuzz
