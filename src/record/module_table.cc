// Finds code in the memory map.
#include "record/module_table.h"

#include <algorithm>

namespace halo::record {

CodePlace ModuleTable::locate(uint64_t address) {
  const Mapping* mapping = find(address);
  if (mapping == nullptr && changes_.load(std::memory_order_relaxed) != changes_read_) {
    read_maps();
    mapping = find(address);
  }
  if (mapping == nullptr) return {-1, address};
  return {mapping->module, mapping->first_vaddr + (address - mapping->range.begin)};
}

const ModuleTable::Mapping* ModuleTable::find(uint64_t address) const {
  auto after = std::upper_bound(
      mappings_.begin(), mappings_.end(), address,
      [](uint64_t value, const Mapping& mapping) { return value < mapping.range.begin; });
  if (after == mappings_.begin()) return nullptr;
  --after;
  return after->range.contains(address) ? &*after : nullptr;
}

void ModuleTable::read_maps() {
  changes_read_ = changes_.load(std::memory_order_relaxed);
  mappings_.clear();
  MapsLine first;  // the latest mapping of a file's beginning
  for_each_mapping([&](const MapsLine& line) {
    if (line.inode == 0 || line.path.empty() || line.path[0] != '/') return;
    if (line.file_offset == 0 && line.readable) first = line;
    if (first.inode != line.inode || first.path != line.path || !line.readable) return;
    add_code(line, ElfImage(first.range));
  });
}

// QEMU maps the guest's code without the right to execute it, so that the kernel may join a file's
// mappings into one line: the segments tell what is code.
void ModuleTable::add_code(const MapsLine& line, const ElfImage& image) {
  const uint64_t line_end = line.file_offset + (line.range.end - line.range.begin);
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = std::max(segment.p_offset, line.file_offset);
    const uint64_t end = std::min(segment.p_offset + segment.p_filesz, line_end);
    if (begin >= end) continue;
    const int32_t module = module_index(line.path, line.inode);
    if (modules_[module].build_id.empty()) modules_[module].build_id = image.build_id();
    const uint64_t to_address = line.range.begin - line.file_offset;
    mappings_.push_back({{begin + to_address, end + to_address},
                         module,
                         begin - segment.p_offset + segment.p_vaddr});
  }
}

int32_t ModuleTable::module_index(const std::string& path, uint64_t inode) {
  for (size_t at = 0; at < modules_.size(); ++at) {
    if (modules_[at].inode == inode && modules_[at].path == path) return int32_t(at);
  }
  modules_.push_back({.path = path, .build_id = "", .inode = inode});
  return int32_t(modules_.size() - 1);
}

bool ModuleTable::knows_any_of(AddressRange range) const {
  return std::any_of(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    return mapping.range.begin < range.end && range.begin < mapping.range.end;
  });
}

void ModuleTable::forget(AddressRange range) {
  std::erase_if(mappings_, [&](const Mapping& mapping) {
    return mapping.range.begin < range.end && range.begin < mapping.range.end;
  });
  mappings_changed();
}

}  // namespace halo::record
