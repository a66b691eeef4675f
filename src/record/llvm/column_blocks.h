// How `halo-trace columns` hands a trace to halo/tracing: blocks, one behind the other, on a pipe.
//
// A stream is the StreamHead, then blocks until a kEnd block. A block is its BlockHead, then
// `bytes` bytes: JSON, or the columns of its table (docs/trace-columns.md), in the order and of the
// types of the Columns below, each filled up to a multiple of 8 bytes. Little-endian. Both ends are
// of one build, so there are no old streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace halo::record::llvm {

enum class BlockKind : uint32_t {
  kAbout = 1,     // JSON: the trace's, as it is
  kMachine = 2,   // JSON: {"machine": {…}, "levels": N}, only where one is simulated
  kModule = 3,    // JSON: {"path", "build_id", "sites": [[…]…], "fields": [[…]…]}
  kAccesses = 4,  // from here on columns
  kCalls = 5,
  kAllocations = 6,
  kFrees = 7,
  kEnd = 8,  // JSON: {"events", "lost", "ending", "detail"}; the last block
};

struct StreamHead {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
};
inline constexpr StreamHead kStreamHead{{'H', 'A', 'L', 'O', 'C', 'O', 'L', '\n'}, 1, 0};

struct BlockHead {
  BlockKind kind;
  uint32_t rows;  // of columns, else 0
  uint64_t bytes;
};
static_assert(sizeof(StreamHead) == 16 && sizeof(BlockHead) == 16);

// Writes blocks to a file descriptor. Throws std::system_error where that fails.
class BlockOutput {
 public:
  explicit BlockOutput(int fd);
  void write(BlockKind kind, std::string_view json);
  void write(BlockKind kind, uint32_t rows, std::span<const std::span<const std::byte>> columns);

 private:
  void write_all(const void* bytes, size_t size);
  int fd_;
};

// Rows of a table that are to become a block.
template <BlockKind kKind, class... Types>
class Columns {
 public:
  static constexpr uint32_t kMostRows = 1 << 16;

  void add(Types... values) { add_each(std::index_sequence_for<Types...>{}, values...); }
  bool full() const { return rows_ == kMostRows; }

  void flush(BlockOutput& output) {
    if (rows_ == 0) return;
    output.write(kKind, rows_, bytes(std::index_sequence_for<Types...>{}));
    rows_ = 0;
  }

 private:
  template <size_t... kAt>
  void add_each(std::index_sequence<kAt...>, Types... values) {
    ((std::get<kAt>(arrays_)[rows_] = values), ...);
    ++rows_;
  }
  template <size_t... kAt>
  std::array<std::span<const std::byte>, sizeof...(Types)> bytes(
      std::index_sequence<kAt...>) const {
    return {std::as_bytes(std::span(std::get<kAt>(arrays_).get(), rows_))...};
  }

  std::tuple<std::unique_ptr<Types[]>...> arrays_{std::make_unique<Types[]>(kMostRows)...};
  uint32_t rows_ = 0;
};

// seq, thread, site, address, bytes, value, missed, tlb_missed, object, object_offset
using AccessColumns = Columns<BlockKind::kAccesses, int64_t, int32_t, int32_t, int64_t, int32_t,
                              int64_t, int8_t, int8_t, int64_t, int32_t>;
// seq, thread, site, entry
using CallColumns = Columns<BlockKind::kCalls, int64_t, int32_t, int32_t, int8_t>;
// seq, thread, object, address, bytes, site, elements, element_bytes
using AllocationColumns = Columns<BlockKind::kAllocations, int64_t, int32_t, int64_t, int64_t,
                                  int64_t, int32_t, int64_t, int64_t>;
// seq, thread, object
using FreeColumns = Columns<BlockKind::kFrees, int64_t, int32_t, int64_t>;

}  // namespace halo::record::llvm
