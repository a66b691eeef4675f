// Lines of /proc/PID/maps.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halo {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address) const { return address - begin < end - begin; }
  bool overlaps(AddressRange other) const { return begin < other.end && other.begin < end; }
  bool operator==(const AddressRange&) const = default;
};

struct MapsLine {
  AddressRange range;
  bool readable = false;
  bool executable = false;
  uint64_t file_offset = 0;
  uint64_t inode = 0;
  std::string_view path;  // in the line's text
};

// The line is "begin-end rwxp offset major:minor inode   path", without an end of line.
inline MapsLine parse_maps_line(std::string_view line) {
  const auto skip = [&](size_t bytes) { line.remove_prefix(std::min(bytes, line.size())); };
  const auto take_number = [&](int base) {
    uint64_t number = 0;
    const char* begin = line.data();
    skip(size_t(std::from_chars(begin, begin + line.size(), number, base).ptr - begin) + 1);
    return number;
  };
  MapsLine parsed;
  parsed.range.begin = take_number(16);
  parsed.range.end = take_number(16);
  parsed.readable = line.starts_with('r');
  parsed.executable = line.size() > 2 && line[2] == 'x';
  skip(5);
  parsed.file_offset = take_number(16);
  take_number(16);
  take_number(16);
  parsed.inode = take_number(10);
  skip(line.find_first_not_of(' '));
  parsed.path = line;
  return parsed;
}

}  // namespace halo
