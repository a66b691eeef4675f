#include "studies/pollution/corun/stream_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>
#include <system_error>

#include "base/crc32.h"
#include "studies/pollution/corun/stream.h"

namespace halo::corun {

namespace {

template <class Item>
uint32_t check_of(const std::vector<Item>& items, uint32_t before = 0) {
  return base::crc32(std::as_bytes(std::span(items)), before);
}

}  // namespace

StreamWriter::StreamWriter(const std::string& path)
    : path_(path), file_(fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), path_);
  words_.reserve(kBuffered);
  const StreamHead none{};  // until the stream is whole
  write(&none, sizeof none);
}

void StreamWriter::add(RequestKind kind, uint32_t line, uint32_t owner, uint64_t cycle) {
  uint64_t passed = cycle - newest_;
  newest_ = cycle;
  for (; passed > kMaxCycles; passed -= std::min(passed, RequestWord::kMaxPass))
    words_.push_back(RequestWord::pass(std::min(passed, RequestWord::kMaxPass)).bits());
  words_.push_back(RequestWord(kind, line, owner, uint32_t(passed)).bits());
  if (owner >= requests_of_.size()) requests_of_.resize(owner + 1);
  if (kind != RequestKind::kWriteBack) ++requests_of_[owner];
  if (words_.size() >= kBuffered) flush();
}

void StreamWriter::flush() {
  check_ = check_of(words_, check_);
  requests_ += words_.size();
  write(words_.data(), words_.size() * sizeof words_[0]);
  words_.clear();
}

void StreamWriter::write(const void* data, size_t bytes) {
  if (fwrite(data, 1, bytes, file_.get()) != bytes)
    throw std::system_error(errno, std::generic_category(), path_);
}

void StreamWriter::finish(StreamHead head, std::vector<OwnerEntry> owners,
                          const std::vector<uint64_t>& regions) {
  flush();
  for (size_t owner = 0; owner < std::min(owners.size(), requests_of_.size()); ++owner)
    owners[owner].requests = requests_of_[owner];
  write(owners.data(), owners.size() * sizeof owners[0]);
  write(regions.data(), regions.size() * sizeof regions[0]);
  std::copy(std::begin(kStreamMagic), std::end(kStreamMagic), head.magic);
  head.version = kStreamVersion;
  head.requests = requests_;
  head.owners = owners.size();
  head.regions = regions.size();
  head.requests_check = check_;
  head.owners_check = check_of(owners);
  head.regions_check = check_of(regions);
  head.head_check = head_check_of(head);
  if (fseek(file_.get(), 0, SEEK_SET) != 0)
    throw std::system_error(errno, std::generic_category(), path_);
  write(&head, sizeof head);
  if (fflush(file_.get()) != 0) throw std::system_error(errno, std::generic_category(), path_);
}

}  // namespace halo::corun
