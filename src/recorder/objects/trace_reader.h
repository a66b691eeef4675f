// Reads an object trace (format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recorder/objects/allocation.h"
#include "recorder/objects/format.h"

namespace halo::objects {

// Calls the members of a visitor (visitor.h) for the events of a trace, in order.
class TraceReader {
 public:
  // Both throw std::runtime_error with one sentence, without the file's name, for a damaged or
  // newer file.
  explicit TraceReader(const std::string& path);
  template <class Visitor>
  void read(Visitor& visitor);

  // After read(): false if the process ended before the file did.
  bool complete() const { return complete_; }

 private:
  struct Cursor {
    const std::byte* at;
    const std::byte* end;

    uint64_t next() {
      uint64_t value = 0;
      for (int shift = 0; shift < 64; shift += 7) {
        if (at == end) break;
        const auto byte = uint8_t(*at++);
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
      }
      throw std::runtime_error("it is damaged: an operand is cut off");
    }
    int64_t next_signed() { return unzigzag(next()); }
  };

  // Reads the next block of events; false at the end of the file.
  bool next_block();
  template <class Visitor>
  void visit_block(Visitor& visitor);
  template <class Visitor>
  void visit_control(Control kind, Cursor& operands, Visitor& visitor);
  template <class Visitor>
  void visit_access(uint8_t op, Cursor& operands, Visitor& visitor);
  Allocation describe(uint64_t number, Cursor& operands);
  ThreadState& state() { return threads_[base::index(thread_)]; }
  [[noreturn]] static void damaged(const char* what);
  uint64_t known(Cursor& operands) {
    const uint64_t number = newest_ - uint64_t(operands.next_signed());
    if (!is_present(number)) damaged("an event is of an unknown object");
    return number;
  }
  bool is_present(uint64_t number) const { return number < present_.size() && present_[number]; }
  // Visitors have tables by allocation number. So numbers are limited to those that a file of that
  // size can have: a loop of malloc and free packs into a byte for 1,700 allocations.
  static constexpr uint64_t kMaxNumber = UINT32_MAX - 1;
  static constexpr uint64_t kFewNumbers = 1 << 20, kNumbersOfByte = 4096;
  static constexpr uint64_t kMaxHuge = 1ULL << 47;  // bytes
  static constexpr uint64_t kMaxThread = 1 << 20;

  std::ifstream file_;
  uint64_t max_number_ = kMaxNumber;
  bool complete_ = false;
  std::vector<std::byte> packed_, both_;
  std::span<const std::byte> ops_, operands_;
  std::vector<ThreadState> threads_;
  base::ThreadId thread_{};
  uint64_t newest_ = 0, address_ = 0;
  std::vector<bool> present_;  // by allocation number
  uint64_t skipped_ = 0;       // allocations before the next one that are not in the trace
};

template <class Visitor>
void TraceReader::read(Visitor& visitor) {
  while (next_block()) visit_block(visitor);
}

template <class Visitor>
void TraceReader::visit_block(Visitor& visitor) {
  Cursor operands{operands_.data(), operands_.data() + operands_.size()};
  for (const std::byte byte : ops_) {
    const auto op = uint8_t(byte);
    if (op < kControl) {
      visit_access(op, operands, visitor);
    } else if (op >= kRepeat) {
      const uint8_t few = op & uint8_t(~kRepeat);
      const uint64_t count = few == kManyRepeats ? operands.next() : few + 1u;
      visitor.repeat(thread_, count);
    } else {
      visit_control(Control(op), operands, visitor);
    }
  }
  if (operands.at != operands.end) damaged("operands are left over");
}

template <class Visitor>
void TraceReader::visit_access(uint8_t op, Cursor& operands, Visitor& visitor) {
  const uint8_t code = op & 7;
  const uint64_t size = code == kSizeInOperand ? operands.next() : uint64_t{1} << code;
  if (size == 0 || size > UINT32_MAX) damaged("an access has an impossible size");
  const bool store = (op & kStoreBit) != 0;
  ThreadState& mine = state();
  switch (Target(op >> kTargetShift)) {
    case Target::kSameObject:
      if (mine.object == 0) damaged("an access is to an unknown object");
      mine.offset += uint64_t(operands.next_signed());
      break;
    case Target::kOtherObject:
      mine.object += uint64_t(operands.next_signed());
      if (!is_present(mine.object)) damaged("an access is to an unknown object");
      mine.offset = operands.next();
      break;
    case Target::kOutside:
      mine.outside += uint64_t(operands.next_signed());
      visitor.access_outside(thread_, mine.outside, uint32_t(size), store);
      return;
    default:
      damaged("an operation is unknown");
  }
  visitor.access(thread_, mine.object, uint32_t(mine.offset), uint32_t(size), store);
}

template <class Visitor>
void TraceReader::visit_control(Control kind, Cursor& operands, Visitor& visitor) {
  switch (kind) {
    case Control::kThread: {
      const uint64_t thread = operands.next();
      if (thread > kMaxThread) damaged("a thread has an impossible number");
      if (thread >= threads_.size()) threads_.resize(thread + 1);
      thread_ = base::ThreadId{uint32_t(thread)};
      return;
    }
    case Control::kAllocate:
      visitor.allocate(describe(newest_ + std::exchange(skipped_, 0) + 1, operands));
      return;
    case Control::kDefine:
      visitor.define(describe(operands.next(), operands));
      return;
    case Control::kFree:
      visitor.free(known(operands));
      return;
    case Control::kRevive:
      visitor.revive(known(operands));
      return;
    case Control::kAlign:
      visitor.align(known(operands));
      return;
    case Control::kReallocate: {
      const uint64_t number = known(operands), replaced = known(operands);
      if (number == replaced) damaged("an object is made of itself");
      visitor.reallocate(number, replaced);
      return;
    }
    case Control::kHugePages: {
      const uint64_t address = operands.next(), bytes = operands.next();
      if (bytes > kMaxHuge - address % kMaxHuge) damaged("huge pages are too many");
      visitor.huge_pages(address, bytes);
      return;
    }
    case Control::kPhase: {
      const uint64_t first = operands.next(), more = operands.next();
      if (more > UINT64_MAX - first) damaged("a phase is too long");
      visitor.phase(first, first + more);
      return;
    }
    case Control::kContents:
      known(operands);
      for (uint64_t words = operands.next(); words > 0; --words) operands.next();
      return;
    case Control::kSkip: {
      const uint64_t count = operands.next();
      if (count > max_number_ - newest_) damaged("an object has an impossible number");
      skipped_ = count;
      return;
    }
  }
  damaged("an operation is unknown");
}

}  // namespace halo::objects
