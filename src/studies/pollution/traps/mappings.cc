#include "studies/pollution/traps/mappings.h"

#include <algorithm>
#include <array>

#include "studies/pollution/traps/user_faults.h"

namespace halo::traps {

namespace {

using Buffer = std::array<char, 16 << 10>;

// The bytes read from that position on; 0 at the end and if it fails.
size_t read_at(int file, Buffer& buffer, uint64_t position) {
  const long bytes = call(SYS_pread64, file, reinterpret_cast<long>(buffer.data()),
                          static_cast<long>(buffer.size()), static_cast<long>(position));
  return bytes < 0 ? 0 : static_cast<size_t>(bytes);
}

// 0 if it cannot be read.
uint64_t max_mappings(Buffer& buffer) {
  const int file = open_to_read("/proc/sys/vm/max_map_count");
  if (file == kNoFile) return 0;
  const size_t bytes = read_at(file, buffer, 0);
  call(SYS_close, file);
  uint64_t number = 0;
  for (size_t at = 0; at < bytes && buffer[at] >= '0' && buffer[at] <= '9'; ++at)
    number = number * 10 + static_cast<uint64_t>(buffer[at] - '0');
  return number;
}

}  // namespace

uint64_t mappings_left(int maps) {
  Buffer buffer;
  const uint64_t limit = max_mappings(buffer);
  uint64_t mappings = 0, position = 0;
  while (const size_t bytes = read_at(maps, buffer, position)) {
    mappings += static_cast<uint64_t>(std::count(buffer.data(), buffer.data() + bytes, '\n'));
    position += bytes;
  }
  return mappings == 0 || mappings > limit ? 0 : limit - mappings;
}

}  // namespace halo::traps
