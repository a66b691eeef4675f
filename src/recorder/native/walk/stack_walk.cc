// The walk.
#include "recorder/native/walk/stack_walk.h"

#include <sys/ucontext.h>

#include <algorithm>
namespace halo::native {

namespace {

uint64_t word_at(uint64_t address) {
  uint64_t word;
  __builtin_memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

// The state of a walk: in the caller of the present frame.
struct Registers {
  uint64_t code;  // to look up
  uint64_t stack;
  uint64_t frame;
};

// A frame is not further from its caller than this, and above it.
constexpr uint64_t kMaxFrameBytes = 64 << 20;

// Goes to the caller: `at.stack` is then above the slot of the return address into it. Returns
// false if there is none, or it is unknown.
bool step(Row row, Registers& at) {
  uint64_t cfa;
  switch (row.base) {
    case Row::Base::kStack:
      cfa = at.stack + uint64_t(row.offset);
      break;
    case Row::Base::kFrame:
      cfa = at.frame + uint64_t(row.offset);
      break;
    case Row::Base::kStoredAtFrame:
      if (at.frame - at.stack > kMaxFrameBytes) return false;
      cfa = word_at(at.frame + uint64_t(row.offset));
      break;
    default:
      return false;
  }
  if (cfa - at.stack - 8 > kMaxFrameBytes || cfa % 8 != 0) return false;
  if (row.saved == Row::Saved::kAtCfa) {
    at.frame = word_at(cfa + uint64_t(row.frame_at));
  } else if (row.saved == Row::Saved::kAtFrame) {
    at.frame = word_at(at.frame + uint64_t(row.frame_at));
  }
  at.stack = cfa;
  at.code = word_at(cfa - 8);
  return true;
}

// The registers that a signal interrupted. The kernel's frame begins where the handler's return
// address is: `at.stack` is one word above it.
void leave_signal(Registers& at) {
  const auto* context = reinterpret_cast<const ucontext_t*>(at.stack);
  const greg_t* registers = context->uc_mcontext.gregs;
  at = {uint64_t(registers[REG_RIP]), uint64_t(registers[REG_RSP]), uint64_t(registers[REG_RBP])};
}

}  // namespace

size_t StackWalk::unchanged(size_t count) const {
  const auto is_same = [this](size_t at) {
    return word_at(frames_[at].slot) == frames_[at].return_address;
  };
  const size_t inner = count - std::min(count, kVerified);
  const size_t outer = std::min(inner, kVerified);
  for (size_t at = 0; at < outer; ++at)
    if (!is_same(at)) return at;
  for (size_t at = inner; at < count; ++at)
    if (!is_same(at)) return at;
  return count;
}

void StackWalk::hash_from(size_t first) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15, kOther = 0xBF58476D1CE4E5B9;
  uint64_t hash = first == 0 ? first_hash() : frames_[first - 1].hash;
  for (size_t at = first; at < count_; ++at) {
    Frame& frame = frames_[at];
    const uint64_t distance = at == 0 ? 0 : frames_[at - 1].slot - frame.slot;
    hash = (hash ^ frame.return_address) * kFactor;
    hash = (hash ^ hash >> 32 ^ distance) * kOther;
    frame.hash = hash;
  }
}

StackChange StackWalk::walk(CodeRows& rows, uint64_t slot, uint64_t frame) {
  if (generation_ != rows.generation()) {
    generation_ = rows.generation();
    count_ = 0;
  }
  Registers at{word_at(slot), slot + 8, frame};
  // The frames of before that may be met, and the new ones, which are put at the end of the memory,
  // the innermost one last.
  size_t known = count_, begin = kMaxFrames;
  for (bool is_call = true; begin > known;) {
    if (is_call) {
      const uint64_t here = at.stack - 8;
      while (known > 0 && frames_[known - 1].slot < here) --known;
      if (known > 0 && frames_[known - 1].slot == here) {
        if (frames_[known - 1].return_address == at.code) {
          const size_t same = unchanged(known);
          if (same == known) break;
          known = same;
        } else {
          --known;
        }
      }
      if (begin == known) break;
      frames_[--begin] = {here, at.code, 0};
    }
    const Row row = rows.find(at.code - is_call);
    // Below the first function of a coroutine, say, there is no return address.
    if (row.base == Row::Base::kNoModule && is_call) ++begin;
    is_call = row.base != Row::Base::kSignal;
    if (!is_call) {
      leave_signal(at);
    } else if (!step(row, at)) {
      known = 0;
      break;
    }
  }
  const size_t fresh = kMaxFrames - begin;
  __builtin_memmove(frames_ + known, frames_ + begin, fresh * sizeof(Frame));
  count_ = known + fresh;
  hash_from(known);
  return {known, {frames_ + known, fresh}};
}

}  // namespace halo::native
