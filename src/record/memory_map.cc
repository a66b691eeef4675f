// Reads /proc/PID/maps.
#include "record/memory_map.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace halo::record {

void for_each_mapping(pid_t process, const std::function<void(const MapsLine&)>& visit) {
  FILE* file = fopen(("/proc/" + std::to_string(process) + "/maps").c_str(), "re");
  if (file == nullptr) return;
  char* text = nullptr;
  size_t capacity = 0;
  while (getline(&text, &capacity, file) > 0) {
    MapsLine line;
    char permissions[8] = "";
    int path_at = 0;
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n",
               &line.range.begin, &line.range.end, permissions, &line.file_offset, &line.inode,
               &path_at) < 5) {
      continue;
    }
    line.readable = permissions[0] == 'r';
    line.executable = permissions[2] == 'x';
    line.path = text + path_at;
    while (!line.path.empty() && line.path.back() == '\n') line.path.pop_back();
    constexpr std::string_view kDeleted = " (deleted)";
    if (line.path.ends_with(kDeleted)) line.path.resize(line.path.size() - kDeleted.size());
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
