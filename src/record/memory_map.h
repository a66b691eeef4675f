// The memory map of this process, which under qemu-user with guest base 0 is also the guest's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace halo::record {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address) const { return address - begin < end - begin; }
};

struct MapsLine {
  AddressRange range;
  bool readable = false;
  bool executable = false;
  uint64_t file_offset = 0;
  uint64_t inode = 0;
  std::string path;  // also of a file that is removed by now
};

void for_each_mapping(const std::function<void(const MapsLine&)>& visit);

// The mapping that contains the address; a range of 64 KiB around it if none does.
AddressRange find_mapping(uint64_t address);

}  // namespace halo::record
