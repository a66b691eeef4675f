#include "studies/pollution/corun/stream.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>

#include "base/crc32.h"

namespace halo::corun {

namespace {

// Sizes in a damaged head must not ask for more memory than the file has bytes.
class File {
 public:
  explicit File(const std::string& path) : file_(fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw std::runtime_error("it cannot be opened");
    if (fseek(file_.get(), 0, SEEK_END) == 0) left_ = uint64_t(std::max(ftell(file_.get()), 0L));
    if (fseek(file_.get(), 0, SEEK_SET) != 0) throw std::runtime_error("it cannot be read");
  }

  template <class Item>
  std::vector<Item> read(uint64_t count) {
    if (count > left_ / sizeof(Item)) throw std::runtime_error("it is cut short");
    std::vector<Item> items(count);
    if (fread(items.data(), sizeof(Item), count, file_.get()) != count)
      throw std::runtime_error("it cannot be read");
    left_ -= count * sizeof(Item);
    return items;
  }

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };
  std::unique_ptr<FILE, Close> file_;
  uint64_t left_ = 0;  // bytes
};

template <class Item>
std::vector<Item> checked(File& file, uint64_t count, uint32_t check) {
  std::vector<Item> items = file.read<Item>(count);
  if (base::crc32(std::as_bytes(std::span(items))) != check)
    throw std::runtime_error("it is damaged: a checksum is wrong");
  return items;
}

// Indices and the sum of all cycles are those of the tables, so that readers need not look again.
void check_requests(const Stream& stream) {
  const uint32_t in_region = kRegionShift - uint32_t(std::countr_zero(stream.head.line_bytes));
  uint64_t cycles = 0;
  for (const uint64_t bits : stream.requests) {
    const RequestWord word(bits);
    cycles += word.cycles();
    if (word.kind() == RequestKind::kPass) continue;
    if (word.kind() > RequestKind::kAhead || word.owner() >= stream.owners.size() ||
        word.line() >> in_region >= stream.regions.size())
      throw std::runtime_error("it is damaged: a request is impossible");
  }
  if (cycles > stream.head.cycles)
    throw std::runtime_error("it is damaged: it has too many cycles");
}

}  // namespace

uint32_t head_check_of(const StreamHead& head) {
  return base::crc32(std::as_bytes(std::span(&head, 1)).first(offsetof(StreamHead, head_check)));
}

Stream read_stream(const std::string& path) {
  File file(path);
  Stream stream;
  stream.head = file.read<StreamHead>(1).front();
  const StreamHead& head = stream.head;
  if (!std::equal(std::begin(kStreamMagic), std::end(kStreamMagic), head.magic))
    throw std::runtime_error("it is not a whole stream");
  if (head.version > kStreamVersion) throw std::runtime_error("it is of a newer version");
  if (head.head_check != head_check_of(head))
    throw std::runtime_error("it is damaged: a checksum is wrong");
  if (!std::has_single_bit(head.line_bytes) || !std::has_single_bit(head.page_bytes) ||
      head.line_bytes > head.page_bytes || head.page_bytes > 1u << kRegionShift)
    throw std::runtime_error("it is damaged: lines and pages are impossible");
  stream.requests = checked<uint64_t>(file, head.requests, head.requests_check);
  stream.owners = checked<OwnerEntry>(file, head.owners, head.owners_check);
  stream.regions = checked<uint64_t>(file, head.regions, head.regions_check);
  if (head.cycles == 0) throw std::runtime_error("it has no accesses");
  check_requests(stream);
  return stream;
}

}  // namespace halo::corun
