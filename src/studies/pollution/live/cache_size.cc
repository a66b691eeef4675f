#include "studies/pollution/live/cache_size.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace halo::watching {

namespace {

constexpr uint64_t kDefault = uint64_t{8} << 20;

// "32768K", for example; 0 if there is no such level.
uint64_t bytes_of_index(int index) {
  char path[96], text[32];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  char* unit = nullptr;
  const uint64_t number = strtoull(text, &unit, 10);
  return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

}  // namespace

uint64_t last_level_bytes() {
  constexpr int kMaxLevels = 8;
  uint64_t last = kDefault;
  for (int index = 0; index < kMaxLevels; ++index)
    if (const uint64_t bytes = bytes_of_index(index)) last = bytes;
  return last;
}

}  // namespace halo::watching
