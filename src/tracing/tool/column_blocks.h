// The stream of blocks by which `halo-trace columns` passes a trace to halo/studies/tracing on a
// pipe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace halo::trace_tool {

// A stream is the StreamHead, then blocks until a kEnd block. A block is its BlockHead, then
// `bytes` bytes: JSON, or the columns of its table (docs/trace-columns.md). The columns have the
// order and types of the Columns below, each padded to a multiple of 8 bytes. Little-endian. Both
// ends are of one build, so no old streams exist.
enum class BlockKind : uint32_t {
  kMetadata = 1,  // JSON: the trace's metadata, unchanged
  kMachine = 2,   // JSON: {"machine": {…}, "levels": N}, only with a simulation
  kModule = 3,    // JSON: {"path", "build_id", "sites": [[…]…], "fields": [[…]…]}
  kAccesses = 4,  // columns from here on
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

inline constexpr char kStreamMagic[8] = {'H', 'A', 'L', 'O', 'C', 'O', 'L', '\n'};
inline constexpr uint32_t kStreamVersion = 1;

struct BlockHead {
  BlockKind kind;
  uint32_t rows;  // of columns, else 0
  uint64_t bytes;
};
static_assert(sizeof(StreamHead) == 16 && sizeof(BlockHead) == 16);

// Writes blocks to a file descriptor. Throws std::system_error on failure.
class BlockOutput {
 public:
  explicit BlockOutput(int fd);
  void write(BlockKind kind, std::string_view json);
  void write(BlockKind kind, uint32_t rows, std::span<const std::span<const std::byte>> columns);

 private:
  void write_all(const void* bytes, size_t size);
  int fd_;
};

// Collects rows of a table for a block.
template <BlockKind kKind, class... Types>
class Columns {
 public:
  static constexpr uint32_t kMaxRows = 1 << 16;

  void add(Types... values) { add_each(std::index_sequence_for<Types...>{}, values...); }
  bool full() const { return rows_ == kMaxRows; }

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

  std::tuple<std::unique_ptr<Types[]>...> arrays_{std::make_unique<Types[]>(kMaxRows)...};
  uint32_t rows_ = 0;
};

using Flag = int8_t;  // 0 or 1

// The columns of each table: type and name. halo/studies/tracing/analyses/column_blocks.py is
// generated from this file.
// clang-format off
#define HALO_ACCESSES_COLUMNS(COLUMN)                                                           \
  COLUMN(int64_t, seq) COLUMN(int32_t, thread) COLUMN(int32_t, site) COLUMN(int64_t, address)   \
  COLUMN(int32_t, bytes) COLUMN(int64_t, value) COLUMN(int8_t, missed)                          \
  COLUMN(int8_t, tlb_missed) COLUMN(int64_t, object) COLUMN(int32_t, object_offset)
#define HALO_CALLS_COLUMNS(COLUMN)                                                              \
  COLUMN(int64_t, seq) COLUMN(int32_t, thread) COLUMN(int32_t, site) COLUMN(Flag, entry)
#define HALO_ALLOCATIONS_COLUMNS(COLUMN)                                                        \
  COLUMN(int64_t, seq) COLUMN(int32_t, thread) COLUMN(int64_t, object)                          \
  COLUMN(int64_t, address) COLUMN(int64_t, bytes) COLUMN(int32_t, site)                         \
  COLUMN(int64_t, elements) COLUMN(int64_t, element_bytes)
#define HALO_FREES_COLUMNS(COLUMN)                                                              \
  COLUMN(int64_t, seq) COLUMN(int32_t, thread) COLUMN(int64_t, object)
// clang-format on

#define HALO_COLUMN_TYPE(type, name) , type
using AccessColumns = Columns<BlockKind::kAccesses HALO_ACCESSES_COLUMNS(HALO_COLUMN_TYPE)>;
using CallColumns = Columns<BlockKind::kCalls HALO_CALLS_COLUMNS(HALO_COLUMN_TYPE)>;
using AllocationColumns =
    Columns<BlockKind::kAllocations HALO_ALLOCATIONS_COLUMNS(HALO_COLUMN_TYPE)>;
using FreeColumns = Columns<BlockKind::kFrees HALO_FREES_COLUMNS(HALO_COLUMN_TYPE)>;
#undef HALO_COLUMN_TYPE

}  // namespace halo::trace_tool
