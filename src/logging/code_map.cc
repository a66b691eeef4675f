// Reads /proc/self/maps, without malloc or locks.
#include "logging/code_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "logging/elf_notes.h"

namespace halo::logging {

namespace {

struct Line {
  AddressRange range;
  bool executable;
  uint64_t offset, inode;
  const char* path;
};

uint64_t take_number(char*& at, int base) {
  const uint64_t number = strtoull(at, &at, base);
  if (*at != '\0') ++at;
  return number;
}

// "begin-end rwxp offset major:minor inode   path"
Line parse(char* at) {
  Line line{};
  line.range.begin = take_number(at, 16);
  line.range.end = take_number(at, 16);
  line.executable = strlen(at) > 5 && at[2] == 'x';
  at += std::min<size_t>(5, strlen(at));
  line.offset = take_number(at, 16);
  take_number(at, 16);
  take_number(at, 16);
  line.inode = take_number(at, 10);
  line.path = at + strspn(at, " ");
  return line;
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
  maps_.add({"\0", 1});
  return count == 0;
}

void CodeMap::print(const AddressRange& range, uint64_t vaddr, const char* path,
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

void CodeMap::add_mapping(char* text) {
  const Line line = parse(text);
  if (line.offset == 0 && line.inode != 0) {
    head_at_ = line.range.begin;
    head_inode_ = line.inode;
  }
  if (!line.executable || count_ == kMost) return;
  char build_id[129] = "";
  uint64_t vaddr = line.offset;
  const bool kernel_made = line.inode == 0 && line.path[0] == '[';  // [vdso]
  if (kernel_made || (line.inode != 0 && line.inode == head_inode_)) {
    const ElfNotes notes(kernel_made ? line.range.begin : head_at_);
    notes.print_build_id(build_id);
    if (!kernel_made) vaddr = notes.address_of_offset(line.offset);
  }
  print(line.range, vaddr, line.path, build_id);
  ranges_[count_++] = line.range;
}

void CodeMap::forget() {
  new (&maps_) Text;
  new (&json_) Text;
  digest_ = 0;
}

bool CodeMap::refresh() {
  if (!read_maps()) return false;
  // What says whether anything is new: the executable lines.
  uint64_t digest = 14695981039346656037ULL;
  char* const text = const_cast<char*>(maps_.view().data());
  for (char* line = text; *line != '\0';) {
    const size_t bytes = strcspn(line, "\n");
    const char* permissions = static_cast<const char*>(memchr(line, ' ', bytes));
    if (permissions != nullptr && permissions[3] == 'x') {
      for (size_t at = 0; at < bytes; ++at)
        digest = (digest ^ uint8_t(line[at])) * 1099511628211ULL;
    }
    line += bytes + (line[bytes] != '\0');
  }
  if (digest == digest_) return false;
  digest_ = digest;
  json_.clear();
  count_ = 0;
  last_found_ = 0;
  for (char* line = text; *line != '\0';) {
    char* const end = line + strcspn(line, "\n");
    const bool last = *end == '\0';
    *end = '\0';
    add_mapping(line);
    line = end + (last ? 0 : 1);
  }
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
