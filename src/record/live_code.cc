// Mappings of files, and what their segments say is code.
#include "record/live_code.h"

#include <algorithm>

#include "record/elf_image.h"

namespace halo::record {

namespace {

// QEMU maps the guest's code without the right to execute it, so that the kernel may join a file's
// mappings into one line: the segments tell what is code.
void visit_code(const MapsLine& line, const ElfImage& image, const CodeVisitor& visit) {
  const uint64_t line_end = line.file_offset + (line.range.end - line.range.begin);
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = std::max(segment.p_offset, line.file_offset);
    const uint64_t end = std::min(segment.p_offset + segment.p_filesz, line_end);
    if (begin >= end) continue;
    const uint64_t to_address = line.range.begin - line.file_offset;
    visit({.range = {begin + to_address, end + to_address},
           .first_vaddr = begin - segment.p_offset + segment.p_vaddr,
           .path = line.path,
           .inode = line.inode,
           .build_id = image.build_id(),
           .executable = line.executable});
  }
}

}  // namespace

void for_each_live_code(const CodeVisitor& visit) {
  MapsLine first;  // the latest mapping of a file's beginning
  for_each_mapping([&](const MapsLine& line) {
    if (line.inode == 0 || line.path.empty() || line.path[0] != '/') return;
    if (line.file_offset == 0 && line.readable) first = line;
    if (first.inode != line.inode || first.path != line.path || !line.readable) return;
    visit_code(line, ElfImage(first.range), visit);
  });
}

}  // namespace halo::record
