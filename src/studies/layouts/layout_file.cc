// The columns of the layout file.
#include "studies/layouts/layout_file.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "base/crc32.h"
#include "studies/layouts/layout_format.h"

namespace halo::layout {

namespace {

using Column = std::vector<uint32_t>;

std::vector<Column> columns_of(const Subject& subject) {
  const Order order = hml_ordered(subject);
  const size_t levels = subject.communities.parents.size();
  std::vector<Column> columns(1 + levels);
  for (Column& column : columns) column.reserve(order.size());
  for (const uint64_t number : order) {
    columns[0].push_back(uint32_t(number));
    uint32_t community = subject.facts[number].vertex;
    for (size_t level = 0; level < levels; ++level) {
      community = subject.communities.parents[level][community];
      columns[1 + level].push_back(community);
    }
  }
  return columns;
}

}  // namespace

void write_layout(const Subject& subject, FILE* file) {
  const std::vector<Column> columns = columns_of(subject);
  LayoutHead head{.magic = {},
                  .version = kLayoutVersion,
                  .levels = uint32_t(columns.size() - 1),
                  .objects = uint32_t(columns[0].size()),
                  .check = 0};
  std::copy(std::begin(kLayoutMagic), std::end(kLayoutMagic), head.magic);
  const uint32_t counts[] = {head.levels, head.objects};
  head.check = base::crc32(std::as_bytes(std::span(counts)));
  for (const Column& column : columns)
    head.check = base::crc32(std::as_bytes(std::span(column)), head.check);
  fwrite(&head, sizeof head, 1, file);
  for (const Column& column : columns) fwrite(column.data(), sizeof(uint32_t), column.size(), file);
}

}  // namespace halo::layout
