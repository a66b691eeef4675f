// The code mappings of this process, for the trace's kMaps frames.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory_map.h"
#include "tracing/library/text.h"

namespace halo::logging {

class CodeMap {
 public:
  // Drops all mappings; also valid after a fork that has interrupted refresh().
  void reset();
  // Reads the mappings again. Returns whether new executable ones have appeared.
  bool refresh();
  bool contains(uint64_t address) const;
  // JSON, as in docs/trace-format.md.
  const Text& json() const { return json_; }

 private:
  static constexpr uint32_t kMax = 4096;

  bool read_maps();
  void add_mapping(const MapsLine& line);
  void print(const AddressRange& range, uint64_t vaddr, std::string_view path,
             const char* build_id);

  Text maps_;
  Text json_;
  AddressRange ranges_[kMax];  // ascending
  uint32_t count_ = 0;
  mutable uint32_t last_found_ = 0;
  uint64_t digest_ = 0;
  // The last mapping of a file's start, which contains its ELF header.
  uint64_t head_at_ = 0;
  uint64_t head_inode_ = 0;
};

}  // namespace halo::logging
