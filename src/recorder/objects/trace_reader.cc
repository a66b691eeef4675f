// Reads and unpacks blocks of an object trace.
#include "recorder/objects/trace_reader.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace halo::objects {

namespace {

// Returns the number of bytes read.
size_t read_into(std::ifstream& file, void* data, size_t size) {
  file.read(static_cast<char*>(data), std::streamsize(size));
  return size_t(file.gcount());
}

}  // namespace

void TraceReader::damaged(const char* what) {
  throw std::runtime_error("it is damaged: " + std::string(what));
}

TraceReader::TraceReader(const std::string& path) : file_(path, std::ios::binary), threads_(1) {
  if (!file_) throw std::runtime_error("it cannot be read: " + std::string(std::strerror(errno)));
  FileHead head;
  if (read_into(file_, &head, sizeof head) != sizeof head || head.magic != kMagic)
    throw std::runtime_error(
        "it is not an object trace of halo; halo study layout -o and halo record --objects make "
        "one");
  if (head.version != kVersion)
    throw std::runtime_error("it has version " + std::to_string(head.version) +
                             ", which this halo cannot read");
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (!error) max_number_ = std::min(max_number_, kFewNumbers + kNumbersOfByte * size);
}

bool TraceReader::next_block() {
  for (;;) {
    BlockHead head;
    const size_t size = read_into(file_, &head, sizeof head);
    if (size != sizeof head) {
      complete_ = complete_ && size == 0;
      return false;
    }
    if (head.kind == BlockKind::kEnd) {
      complete_ = true;
      continue;
    }
    complete_ = false;
    if (head.kind != BlockKind::kEvents || head.ops > kMaxOps + 2 || head.operands > kMaxOperands ||
        head.packed > ZSTD_compressBound(size_t{head.ops} + head.operands))
      damaged("the head of a block is impossible");
    packed_.resize(head.packed);
    if (read_into(file_, packed_.data(), head.packed) != head.packed) return false;  // cut short
    if (XXH64(packed_.data(), packed_.size(), uint64_t{head.ops} + head.operands) != head.check)
      damaged("a block has another checksum");
    both_.resize(size_t{head.ops} + head.operands);
    if (ZSTD_decompress(both_.data(), both_.size(), packed_.data(), packed_.size()) != both_.size())
      damaged("a block cannot be unpacked");
    ops_ = std::span(both_).first(head.ops);
    operands_ = std::span(both_).subspan(head.ops);
    return true;
  }
}

Allocation TraceReader::describe(uint64_t number, Cursor& operands) {
  if (number == 0 || number > max_number_) damaged("an object has an impossible number");
  newest_ = std::max(newest_, number);
  if (number >= present_.size()) present_.resize(number + 1);
  present_[number] = true;
  address_ += uint64_t(operands.next_signed());
  const uint64_t size = operands.next(), context = operands.next();
  if (size > UINT32_MAX || context > UINT32_MAX) damaged("an object has an impossible size");
  return {number, address_, uint32_t(size), base::ContextId{uint32_t(context)}};
}

}  // namespace halo::objects
