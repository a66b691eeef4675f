// Writes blocks to a file descriptor.
#include "tracing/tool/column_blocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace halo::trace_tool {

namespace {

constexpr int kPipeBytes = 1 << 20;

size_t padding(size_t bytes) { return -bytes % 8; }

}  // namespace

BlockOutput::BlockOutput(int fd) : fd_(fd) {
  // Fewer switches between writer and reader; ignored if it is not a pipe, or if the size is
  // refused.
  (void)fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  StreamHead head{{}, kStreamVersion, 0};
  std::copy(std::begin(kStreamMagic), std::end(kStreamMagic), head.magic);
  write_all(&head, sizeof head);
}

void BlockOutput::write(BlockKind kind, std::string_view json) {
  const BlockHead head{kind, 0, json.size()};
  write_all(&head, sizeof head);
  write_all(json.data(), json.size());
}

void BlockOutput::write(BlockKind kind, uint32_t rows,
                        std::span<const std::span<const std::byte>> columns) {
  BlockHead head{kind, rows, 0};
  for (const auto& column : columns) head.bytes += column.size() + padding(column.size());
  write_all(&head, sizeof head);
  constexpr char kZeros[8] = {};
  for (const auto& column : columns) {
    write_all(column.data(), column.size());
    write_all(kZeros, padding(column.size()));
  }
}

void BlockOutput::write_all(const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(fd_, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "cannot write");
    at += n;
    size -= size_t(n);
  }
}

}  // namespace halo::trace_tool
