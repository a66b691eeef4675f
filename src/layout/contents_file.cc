// The rows of the contents file.
#include "layout/contents_file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/contents.h"
#include "base/crc32.h"
#include "layout/contents_format.h"
#include "objects/trace_reader.h"
#include "objects/visitor.h"

namespace halo::layout {

static_assert(kContentsWords == base::kMaxContentsWords);

namespace {

template <class Part>
std::span<const std::byte> bytes_of(const Part& part) {
  return std::as_bytes(std::span(&part, 1));
}

// Writes a row for each object with contents.
class RowWriter : public objects::Visitor {
 public:
  explicit RowWriter(FILE* file) : file_(file) {}

  void allocate(const objects::Allocation& one) {
    if (one.number >= objects_.size()) objects_.resize(one.number + 1);
    objects_[one.number] = one;
  }
  void define(const objects::Allocation& one) { allocate(one); }
  void contents(uint64_t number, std::span<const uint64_t> words) {
    const objects::Allocation& one = objects_[number];
    if (words.size() != base::contents_words(one.size))
      throw std::runtime_error("it is damaged: contents do not match the size of their object");
    ContentsRow row{.number = number,
                    .address = one.address,
                    .size = one.size,
                    .context = base::index(one.context),
                    .count = uint32_t(words.size()),
                    .unused = 0,
                    .words = {}};
    std::ranges::copy(words, row.words);
    check_ = base::crc32(bytes_of(row), check_);
    ++rows_;
    fwrite(&row, sizeof row, 1, file_);
  }

  uint64_t rows() const { return rows_; }
  uint32_t check() const { return check_; }  // CRC-32 of the rows

 private:
  FILE* const file_;
  std::vector<objects::Allocation> objects_;  // by allocation number
  uint64_t rows_ = 0;
  uint32_t check_ = 0;
};

}  // namespace

void write_contents(const std::string& trace, FILE* file) {
  ContentsHead head{.magic = {}, .version = kContentsVersion, .check = 0, .rows = 0};
  std::copy(std::begin(kContentsMagic), std::end(kContentsMagic), head.magic);
  fwrite(&head, sizeof head, 1, file);
  RowWriter writer(file);
  objects::TraceReader(trace).read(writer);
  head.rows = writer.rows();
  head.check = base::crc32(bytes_of(head.rows), writer.check());
  if (fseek(file, 0, SEEK_SET) != 0)
    throw std::system_error(errno, std::generic_category(), "the contents file cannot be written");
  fwrite(&head, sizeof head, 1, file);
}

}  // namespace halo::layout
