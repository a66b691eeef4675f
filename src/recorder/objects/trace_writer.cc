// Packs and writes blocks of an object trace.
#include "recorder/objects/trace_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace halo::objects {

namespace {

constexpr int kLevel = 1;

template <class Head>
std::span<const std::byte> bytes_of(const Head& head) {
  return std::as_bytes(std::span(&head, 1));
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(size_t(done));
  }
  return true;
}

}  // namespace

TraceWriter::TraceWriter(std::string path)
    : path_(std::move(path)), process_(getpid()), complete_(true), threads_(1) {
  const FileHead head;
  append(O_CREAT | O_EXCL, {bytes_of(head)});
}

void TraceWriter::restart() {
  full_ = false;
  complete_ = true;
  bytes_ = first_ = accesses_ = newest_ = address_ = 0;
  ops_.clear();
  operands_.clear();
  threads_.assign(1, {});
  thread_ = {};
  defined_.clear();
  const FileHead head;
  append(O_TRUNC, {bytes_of(head)});
}

void TraceWriter::describe(const Allocation& one) {
  signed_operand(one.address - address_);
  operand(one.size);
  operand(base::index(one.context));
  address_ = one.address;
}

void TraceWriter::allocate(const Allocation& one) {
  if (first_ == 0) first_ = one.number;
  if (one.number <= newest_) return define(one);
  if (one.number != newest_ + 1) {
    control(Control::kSkip);
    operand(one.number - newest_ - 1);
  }
  control(Control::kAllocate);
  describe(one);
  newest_ = one.number;
}

void TraceWriter::define(const Allocation& one) {
  control(Control::kDefine);
  operand(one.number);
  describe(one);
  newest_ = std::max(newest_, one.number);
}

bool TraceWriter::is_defined(uint64_t number) const {
  if (first_ != 0 && number >= first_) return true;
  return number < defined_.size() && defined_[number];
}

void TraceWriter::about(Control kind, uint64_t number) {
  if (!is_defined(number)) return;
  control(kind);
  signed_operand(newest_ - number);
}

void TraceWriter::reallocate(uint64_t number, uint64_t replaced) {
  if (number == replaced || !is_defined(replaced)) return;
  about(Control::kReallocate, number);
  signed_operand(newest_ - replaced);
}

void TraceWriter::huge_pages(uint64_t address, uint64_t bytes) {
  control(Control::kHugePages);
  operand(address);
  operand(bytes);
}

void TraceWriter::phase(uint64_t first, uint64_t last) {
  control(Control::kPhase);
  operand(first);
  operand(last - first);
}

inline ThreadState& TraceWriter::use(base::ThreadId thread) {
  flush_if_full();
  const uint32_t at = base::index(thread);
  if (at >= threads_.size()) threads_.resize(at + 1);
  if (thread != thread_) {
    control(Control::kThread);
    operand(at);
    thread_ = thread;
    flush_if_full();
  }
  return threads_[at];
}

inline void TraceWriter::access_op(Target target, uint32_t size, bool store) {
  ++accesses_;
  const bool plain = std::has_single_bit(size) && size <= 64;
  const auto code = plain ? uint8_t(std::countr_zero(size)) : kSizeInOperand;
  op(uint8_t(code | (store ? kStoreBit : 0) | uint8_t(target) << kTargetShift));
  if (!plain) operand(size);
}

void TraceWriter::access(base::ThreadId thread, const Allocation& object, uint32_t offset,
                         uint32_t size, bool store) {
  if (!is_defined(object.number)) {
    if (object.number >= defined_.size()) defined_.resize(object.number + 1);
    defined_[object.number] = true;
    define(object);
  }
  ThreadState& state = use(thread);
  if (object.number == state.object) {
    access_op(Target::kSameObject, size, store);
    signed_operand(uint64_t{offset} - state.offset);
  } else {
    access_op(Target::kOtherObject, size, store);
    signed_operand(object.number - state.object);
    operand(offset);
  }
  state.object = object.number;
  state.offset = offset;
}

void TraceWriter::access_outside(base::ThreadId thread, uint64_t address, uint32_t size,
                                 bool store) {
  ThreadState& state = use(thread);
  access_op(Target::kOutside, size, store);
  signed_operand(address - state.outside);
  state.outside = address;
}

void TraceWriter::repeat(base::ThreadId thread, uint32_t count) {
  if (count == 0) return;
  use(thread);
  const bool few = count <= kManyRepeats;
  op(uint8_t(kRepeat | (few ? count - 1 : uint32_t{kManyRepeats})));
  if (!few) operand(count);
}

void TraceWriter::flush() {
  full_ = false;
  if (!ops_.empty() && complete_) write_block();
  ops_.clear();
  operands_.clear();
}

void TraceWriter::write_block() {
  both_.assign(ops_.begin(), ops_.end());
  both_.insert(both_.end(), operands_.begin(), operands_.end());
  packed_.resize(ZSTD_compressBound(both_.size()));
  const size_t size =
      ZSTD_compress(packed_.data(), packed_.size(), both_.data(), both_.size(), kLevel);
  if (ZSTD_isError(size)) {
    complete_ = false;
    return;
  }
  BlockHead head{.ops = uint32_t(ops_.size()),
                 .operands = uint32_t(operands_.size()),
                 .packed = uint32_t(size)};
  head.check = XXH64(packed_.data(), size, uint64_t{head.ops} + head.operands);
  append(0, {bytes_of(head), std::span(packed_).first(size)});
}

void TraceWriter::finish() {
  flush();
  const BlockHead end{.kind = BlockKind::kEnd};
  append(0, {bytes_of(end)});
}

void TraceWriter::append(int flags, std::initializer_list<std::span<const std::byte>> parts) {
  if (!complete_) return;
  complete_ = false;
  if (getpid() != process_) return;
  const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
  if (file < 0) return;
  complete_ = true;
  for (const auto part : parts) complete_ = complete_ && write_all(file, part);
  close(file);
  for (const auto part : parts) bytes_ += part.size();
}

}  // namespace halo::objects
