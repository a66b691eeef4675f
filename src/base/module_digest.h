// Digests of a module's content, by which builds with one build-id are told apart
// (docs/plan-format.md).
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace halo {

// The segments of a module in memory, at `bias` plus their addresses.
struct MappedModule {
  uintptr_t bias;
  std::span<const Elf64_Phdr> parts;
};

// A polynomial of 64-bit words, modulo 2^64. Any change of one word changes it, as the factor is
// odd.
class WordHash {
 public:
  void add(uint64_t word) { value_ = (value_ + word) * 0x9E3779B97F4A7C15; }
  // The last word is padded with zeros.
  void add(const uint8_t* at, uint64_t bytes) {
    for (; bytes >= sizeof(uint64_t); at += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
      uint64_t word;
      memcpy(&word, at, sizeof word);
      add(word);
    }
    if (bytes == 0) return;
    uint64_t last = 0;
    memcpy(&last, at, bytes);
    add(last);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

class ModuleDigest {
 public:
  explicit ModuleDigest(MappedModule module) : module_(module) {}

  // Of the segments' headers and the unwind tables: equal layouts have equal return addresses and
  // frames. Breakpoints and relaxations do not change it. Never 0.
  uint32_t layout() {
    for (const Elf64_Phdr& part : module_.parts)
      if (part.p_type == PT_LOAD || part.p_type == PT_GNU_EH_FRAME) add_header(part);
    for (const Elf64_Phdr& part : module_.parts)
      if (part.p_type == PT_GNU_EH_FRAME) add_unwind_tables(part);
    const auto found = uint32_t(hash_.value() >> 32);
    return found == 0 ? 1 : found;
  }

  // Of that, and of the code. Never 0.
  uint64_t code() {
    layout();
    if (!relocates_code())
      for (const Elf64_Phdr& part : module_.parts)
        if (part.p_type == PT_LOAD && (part.p_flags & (PF_R | PF_W | PF_X)) == (PF_R | PF_X))
          add_samples(part.p_vaddr, part.p_vaddr + part.p_filesz);
    return hash_.value() == 0 ? 1 : hash_.value();
  }

 private:
  // A range of at most that many windows is read as a whole; else, windows at equal distances are,
  // so that the cost is bounded, also that of reading the file.
  static constexpr uint64_t kWindows = 16, kWindow = 1024;

  void add_header(const Elf64_Phdr& part) {
    hash_.add(uint64_t{part.p_flags} << 32 | part.p_type);
    hash_.add(part.p_vaddr);
    hash_.add(part.p_filesz);
    hash_.add(part.p_memsz);
  }

  // The segment that contains the range, if it is readable and never written.
  const Elf64_Phdr* constant_segment(uint64_t begin, uint64_t bytes) const {
    const auto found = std::ranges::find_if(module_.parts, [&](const Elf64_Phdr& part) {
      return part.p_type == PT_LOAD && begin - part.p_vaddr < part.p_filesz &&
             bytes <= part.p_filesz - (begin - part.p_vaddr);
    });
    const bool fits = found != module_.parts.end() && (found->p_flags & (PF_R | PF_W)) == PF_R;
    return fits ? &*found : nullptr;
  }

  const uint8_t* at(uint64_t address) const {
    return reinterpret_cast<const uint8_t*>(module_.bias + address);
  }

  // The search table, whose entries depend on the sizes of all functions before; then what lies
  // from the start of the frame tables up to the end of their segment.
  void add_unwind_tables(const Elf64_Phdr& part) {
    if (constant_segment(part.p_vaddr, part.p_filesz) == nullptr) return;
    add_samples(part.p_vaddr, part.p_vaddr + part.p_filesz);
    constexpr uint8_t kRelative = 0x1B;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
    if (part.p_filesz < 8 || at(part.p_vaddr)[1] != kRelative) return;
    int32_t distance;
    memcpy(&distance, at(part.p_vaddr + 4), sizeof distance);
    const uint64_t frames = part.p_vaddr + 4 + uint64_t(int64_t{distance});
    const Elf64_Phdr* segment = constant_segment(frames, 0);
    if (segment != nullptr) add_samples(frames, segment->p_vaddr + segment->p_filesz);
  }

  void add_samples(uint64_t begin, uint64_t end) {
    const uint64_t bytes = end - begin;
    if (bytes <= kWindows * kWindow) return hash_.add(at(begin), bytes);
    const uint64_t distance = (bytes - kWindow) / (kWindows - 1);
    for (uint64_t i = 0; i < kWindows; ++i) hash_.add(at(begin + i * distance), kWindow);
  }

  // Whether the dynamic linker changes code while it loads the module.
  bool relocates_code() const {
    for (const Elf64_Phdr& part : module_.parts) {
      if (part.p_type != PT_DYNAMIC) continue;
      for (uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= part.p_filesz;
           offset += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, at(part.p_vaddr + offset), sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_TEXTREL) return true;
        if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0) return true;
      }
    }
    return false;
  }

  const MappedModule module_;
  WordHash hash_;
};

}  // namespace halo
