// Reads the headers of a loaded ELF module.
#include "tracing/library/elf_notes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace halo::logging {

namespace {

bool read_at(int memory, uint64_t address, void* to, size_t bytes) {
  return pread(memory, to, bytes, off_t(address)) == ssize_t(bytes);
}

}  // namespace

ElfNotes::ElfNotes(uint64_t base) {
  const int memory = open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return;
  Elf64_Ehdr head;
  if (read_at(memory, base, &head, sizeof head) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_phentsize == sizeof segments_[0]) {
    count_ = std::min<size_t>(head.e_phnum, std::size(segments_));
    if (!read_at(memory, base + head.e_phoff, segments_, count_ * sizeof segments_[0])) count_ = 0;
  }
  const std::span segments(segments_, count_);
  const auto first =
      std::ranges::find_if(segments, [](const auto& it) { return it.p_type == PT_LOAD; });
  const uint64_t bias = first != segments.end() ? base - (first->p_vaddr - first->p_offset) : base;
  for (const Elf64_Phdr& segment : segments) {
    const uint64_t begin = bias + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      code_begin_ = code_end_ == 0 ? begin : std::min(code_begin_, begin);
      code_end_ = std::max(code_end_, begin + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE) {
      read_build_id(memory, segment, begin);
    }
  }
  close(memory);
}

uint64_t ElfNotes::address_of_code_offset(uint64_t offset) const {
  for (const Elf64_Phdr& segment : std::span(segments_, count_)) {
    const uint64_t begin = segment.p_offset / 4096 * 4096;  // mappings begin at whole pages
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && offset >= begin &&
        offset < segment.p_offset + segment.p_filesz) {
      return segment.p_vaddr + (offset - segment.p_offset);
    }
  }
  return 0;
}

void ElfNotes::read_build_id(int memory, const Elf64_Phdr& segment, uint64_t address) {
  uint8_t notes[1024];
  const uint64_t bytes = std::min(segment.p_memsz, uint64_t(sizeof notes));
  if (build_id_[0] != '\0' || !read_at(memory, address, notes, bytes)) return;
  print_build_id(find_build_id({notes, bytes}, segment.p_align), build_id_);
}

}  // namespace halo::logging
