// Reads /proc/self/maps, without malloc or locks.
#include "tracing/library/code_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tracing/library/elf_notes.h"

namespace halo::logging {

namespace {

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const size_t bytes = text.find('\n');
    visit(text.substr(0, bytes));
    text.remove_prefix(std::min(bytes, text.size() - 1) + 1);
  }
}

}  // namespace

bool CodeMap::read_maps() {
  const int file = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  maps_.clear();
  char part[4096];
  ssize_t count;
  while ((count = read(file, part, sizeof part)) > 0) maps_.add({part, size_t(count)});
  close(file);
  return count == 0;
}

void CodeMap::print(const AddressRange& range, uint64_t vaddr, std::string_view path,
                    const char* build_id) {
  json_.add(count_ == 0 ? "[[" : ",[");
  json_.add_number(range.begin);
  json_.add(",");
  json_.add_number(range.end);
  json_.add(",");
  json_.add_number(vaddr);
  json_.add(",");
  json_.quote(path);
  json_.add(",");
  json_.quote(build_id);
  json_.add("]");
}

void CodeMap::add_mapping(const MapsLine& line) {
  if (line.file_offset == 0 && line.inode != 0) {
    head_at_ = line.range.begin;
    head_inode_ = line.inode;
  }
  if (!line.executable || count_ == kMax) return;
  BuildIdText build_id = "";
  uint64_t vaddr = line.file_offset;
  const bool kernel_made = line.inode == 0 && line.path.starts_with('[');  // [vdso]
  if (kernel_made || (line.inode != 0 && line.inode == head_inode_)) {
    const ElfNotes notes(kernel_made ? line.range.begin : head_at_);
    memcpy(build_id, notes.build_id(), sizeof build_id);
    if (!kernel_made) vaddr = notes.address_of_code_offset(line.file_offset);
  }
  print(line.range, vaddr, line.path, build_id);
  ranges_[count_++] = line.range;
}

void CodeMap::reset() {
  new (&maps_) Text;
  new (&json_) Text;
  digest_ = 0;
}

bool CodeMap::refresh() {
  if (!read_maps()) return false;
  // What says whether anything is new: the executable lines.
  uint64_t digest = 14695981039346656037ULL;
  for_each_line(maps_.view(), [&](std::string_view line) {
    if (!parse_maps_line(line).executable) return;
    for (const char byte : line) digest = (digest ^ uint8_t(byte)) * 1099511628211ULL;
  });
  if (digest == digest_) return false;
  digest_ = digest;
  json_.clear();
  count_ = 0;
  last_found_ = 0;
  for_each_line(maps_.view(), [&](std::string_view line) { add_mapping(parse_maps_line(line)); });
  json_.add(count_ == 0 ? "[]" : "]");
  return true;
}

bool CodeMap::contains(uint64_t address) const {
  if (last_found_ < count_ && ranges_[last_found_].contains(address)) return true;
  const AddressRange* const end = ranges_ + count_;
  const AddressRange* const found =
      std::upper_bound(ranges_, end, address,
                       [](uint64_t at, const AddressRange& range) { return at < range.begin; });
  if (found == ranges_ || !found[-1].contains(address)) return false;
  last_found_ = uint32_t(found - 1 - ranges_);
  return true;
}

}  // namespace halo::logging
