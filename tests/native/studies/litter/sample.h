// Detector files for tests, complete or damaged.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "studies/litter/litter.h"
#include "studies/litter/size_classes.h"

namespace halo::litter {

// A temporary file with the lifetime of this object.
class File {
 public:
  explicit File(const std::string& text) {
    const int fd = mkstemp(path_.data());
    if (fd >= 0) close(fd);
    std::ofstream(path_) << text;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { unlink(path_.c_str()); }

  const char* path() const { return path_.c_str(); }

 private:
  std::string path_ = "/tmp/halo-litter-XXXXXX";
};

struct Sample {
  std::array<uint64_t, kSizeClasses> bins{};
  uint64_t larger_bytes = 0;
  uint64_t max_live = 0;
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> groups;

  Sample& size(size_t bytes, uint64_t count) {
    bins[class_of(bytes)] += count;
    if (bytes > kPageBytes) larger_bytes += bytes * count;
    return *this;
  }

  uint64_t allocations() const { return std::accumulate(bins.begin(), bins.end(), uint64_t{0}); }

  std::string text() const {
    std::string result = R"({"format": "halo-detector", "version": 1, "program": "/bin/x \"[{",)";
    result += " \"allocations\": " + std::to_string(allocations());
    result += ", \"mean\": 12.000000, \"minimum\": 0, \"maximum\": 9, \"max_live_allocations\": ";
    result += std::to_string(max_live) + ", \"larger_bytes\": " + std::to_string(larger_bytes);
    result += ",\n \"bins\": [";
    for (size_t i = 0; i < bins.size(); ++i)
      result += (i == 0 ? "" : ",") + std::to_string(bins[i]);
    result += "],\n \"groups\": [";
    for (size_t i = 0; i < groups.size(); ++i) {
      result += i == 0 ? "[" : ",\n  [";
      for (size_t j = 0; j < groups[i].size(); ++j) {
        result += (j == 0 ? "[" : ", [") + std::to_string(groups[i][j].first);
        result += ", " + std::to_string(groups[i][j].second) + "]";
      }
      result += "]";
    }
    return result + "]}\n";
  }
};

inline halo_litter_settings settings_for(const File& file) {
  return {file.path(), 0.95, 1, 1, 1, 0};
}

}  // namespace halo::litter
