// The executable mappings of this process.
#include "tracing/library/code_map.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>

#include "tracing/library/elf_notes.h"

namespace halo::logging {
namespace {

TEST(CodeMap, ContainsCodeButNoData) {
  const auto map = std::make_unique<CodeMap>();
  EXPECT_TRUE(map->refresh());
  EXPECT_TRUE(map->contains(reinterpret_cast<uint64_t>(&mmap)));
  EXPECT_FALSE(map->contains(reinterpret_cast<uint64_t>(map.get())));
  EXPECT_FALSE(map->contains(0));
}

TEST(CodeMap, NoticesNewCodeOnly) {
  const auto map = std::make_unique<CodeMap>();
  EXPECT_TRUE(map->refresh());
  EXPECT_FALSE(map->refresh());
  void* data = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(map->refresh());
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(map->refresh());
  EXPECT_TRUE(map->contains(reinterpret_cast<uint64_t>(code) + 4095));
  munmap(data, 4096);
  munmap(code, 4096);
}

TEST(CodeMap, ListsWhereAFileIsMapped) {
  const auto map = std::make_unique<CodeMap>();
  map->refresh();
  const std::string json(map->json().view());
  EXPECT_NE(json.find("libc.so.6"), std::string::npos);
  EXPECT_EQ(json.substr(0, 2), "[[");
  EXPECT_EQ(json.substr(json.size() - 2), "]]");
}

Elf64_Phdr segment(uint32_t flags, uint64_t offset, uint64_t address, uint64_t bytes) {
  Elf64_Phdr result{};
  result.p_type = PT_LOAD;
  result.p_flags = flags;
  result.p_offset = offset;
  result.p_vaddr = address;
  result.p_filesz = result.p_memsz = bytes;
  return result;
}

// As lld links: the segments follow one another in the file, so that a page has parts of two.
TEST(ElfNotes, FindsCodeThatSharesAPageOfTheFile) {
  struct {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
  } image{};
  std::memcpy(image.head.e_ident, ELFMAG, SELFMAG);
  image.head.e_phoff = sizeof image.head;
  image.head.e_phentsize = sizeof(Elf64_Phdr);
  image.head.e_phnum = 2;
  image.segments[0] = segment(PF_R, 0, 0, 0x14e410);
  image.segments[1] = segment(PF_R | PF_X, 0x14e410, 0x14f410, 0x1000);
  const ElfNotes notes(reinterpret_cast<uint64_t>(&image));
  EXPECT_EQ(notes.address_of_code_offset(0x14e000), 0x14f000u) << "where its mapping begins";
  EXPECT_EQ(notes.address_of_code_offset(0x14f000), 0x150000u);
  EXPECT_EQ(notes.address_of_code_offset(0x1000), 0u) << "data";
}

}  // namespace
}  // namespace halo::logging
