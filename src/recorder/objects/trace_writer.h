// Writes an object trace (format.h).
#pragma once

#include <sys/types.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "recorder/objects/allocation.h"
#include "recorder/objects/format.h"

namespace halo::objects {

// Memory is bounded: one block, and a bit for each object that is older than the trace. The file
// must not exist. It is open only while a block is written: the recorded program, in whose process
// this may be, could close the descriptor, or count on its number. After a failed write, and in a
// forked child, nothing is written, and complete() is false.
class TraceWriter {
 public:
  explicit TraceWriter(std::string path);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void allocate(const Allocation& one);
  // The request of an allocation had an alignment of its own.
  void align(uint64_t number) { about(Control::kAlign, number); }
  // realloc made the allocation `number` of another one, which has been freed.
  void reallocate(uint64_t number, uint64_t replaced);
  void free(uint64_t number) { about(Control::kFree, number); }
  void revive(uint64_t number) { about(Control::kRevive, number); }
  void huge_pages(uint64_t address, uint64_t bytes);

  // An access to an object, which is defined first if it is older than the trace.
  void access(base::ThreadId thread, const Allocation& object, uint32_t offset, uint32_t size,
              bool store);
  void access_outside(base::ThreadId thread, uint64_t address, uint32_t size, bool store);
  void repeat(base::ThreadId thread, uint32_t count);
  // Accesses so far, without repeats.
  uint64_t accesses() const { return accesses_; }
  // From one access to another one.
  void phase(uint64_t first, uint64_t last);

  // Begins the file again; objects stay alive.
  void restart();
  // Writes what is buffered, and an end block. More events may follow.
  void finish();
  bool complete() const { return complete_; }
  uint64_t bytes() const { return bytes_; }  // of the file so far

 private:
  void op(uint8_t byte) {
    ops_.push_back(std::byte(byte));
    if (ops_.size() == kMaxOps) full_ = true;
  }
  void control(Control kind) {
    flush_if_full();
    op(uint8_t(kind));
  }
  void operand(uint64_t value) {
    for (; value >= 0x80; value >>= 7) operands_.push_back(std::byte(value | 0x80));
    operands_.push_back(std::byte(value));
  }
  void signed_operand(uint64_t value) { operand(zigzag(int64_t(value))); }
  void flush_if_full() {
    if (full_) [[unlikely]]
      flush();
  }
  ThreadState& use(base::ThreadId thread);
  void access_op(Target target, uint32_t size, bool store);
  void about(Control kind, uint64_t number);
  void describe(const Allocation& one);
  bool is_defined(uint64_t number) const;
  void define(const Allocation& one);
  void flush();
  void write_block();
  void append(int flags, std::initializer_list<std::span<const std::byte>> parts);

  const std::string path_;
  const pid_t process_;  // that created the file
  bool complete_;
  bool full_ = false;
  uint64_t bytes_ = 0;
  std::vector<std::byte> ops_, operands_, both_, packed_;
  std::vector<ThreadState> threads_;
  base::ThreadId thread_{};
  uint64_t first_ = 0;  // number of the first allocation in the trace
  uint64_t accesses_ = 0;
  uint64_t newest_ = 0;        // the greatest number so far
  uint64_t address_ = 0;       // of the last allocation or definition
  std::vector<bool> defined_;  // by number, of objects older than the trace
};

}  // namespace halo::objects
