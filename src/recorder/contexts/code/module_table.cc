// Finds code in the memory map.
#include "recorder/contexts/code/module_table.h"

#include <algorithm>

namespace halo::record {

CodePlace ModuleTable::locate(uint64_t address) {
  const Mapping* mapping = find(address);
  if (mapping == nullptr) {
    read_if_changed();
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

void ModuleTable::read_if_changed() {
  if (!are_read_) read_maps();
}

void ModuleTable::read_maps() {
  are_read_ = true;
  std::vector<Mapping> found;
  source_([&](const CodeMapping& mapping) {
    found.push_back({mapping.range, module_index(mapping), mapping.first_vaddr});
  });
  if (found.empty()) return;  // the process has ended: the known mappings remain valid
  mappings_ = std::move(found);
  std::sort(mappings_.begin(), mappings_.end(),
            [](const Mapping& a, const Mapping& b) { return a.range.begin < b.range.begin; });
}

int32_t ModuleTable::module_index(const CodeMapping& mapping) {
  for (size_t at = 0; at < modules_.size(); ++at) {
    if (modules_[at].inode != mapping.inode || modules_[at].path != mapping.path) continue;
    modules_[at].of_recorder &= mapping.of_recorder;
    return int32_t(at);
  }
  modules_.push_back({mapping.path, mapping.build_id, mapping.inode, mapping.of_recorder});
  return int32_t(modules_.size() - 1);
}

bool ModuleTable::contains_any_of(AddressRange range) const {
  return std::ranges::any_of(mappings_,
                             [&](const Mapping& mapping) { return mapping.range.overlaps(range); });
}

void ModuleTable::invalidate(AddressRange range) {
  std::erase_if(mappings_, [&](const Mapping& mapping) { return mapping.range.overlaps(range); });
  mappings_changed();
}

}  // namespace halo::record
