// Reads /proc/PID/maps.
#include "recorder/contexts/code/memory_map.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace halo::record {

void for_each_mapping(pid_t process, const std::function<void(const MapsLine&)>& visit) {
  FILE* file = fopen(("/proc/" + std::to_string(process) + "/maps").c_str(), "re");
  if (file == nullptr) return;
  char* text = nullptr;
  size_t capacity = 0;
  for (ssize_t bytes; (bytes = getline(&text, &capacity, file)) > 0;) {
    MapsLine line = parse_maps_line({text, size_t(bytes) - (text[bytes - 1] == '\n')});
    constexpr std::string_view kDeleted = " (deleted)";
    if (line.path.ends_with(kDeleted)) line.path.remove_suffix(kDeleted.size());
    visit(line);
  }
  free(text);
  fclose(file);
}

AddressRange find_mapping(pid_t process, uint64_t address) {
  AddressRange found{address & ~uint64_t{0xFFFF}, (address & ~uint64_t{0xFFFF}) + 0x10000};
  for_each_mapping(process, [&](const MapsLine& line) {
    if (line.range.contains(address)) found = line.range;
  });
  return found;
}

}  // namespace halo::record
