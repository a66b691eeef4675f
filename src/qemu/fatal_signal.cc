// Redirects QEMU's pointer to libc's kill, by which QEMU 7.2 ends a process whose guest died of a
// signal.
#include "qemu/fatal_signal.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>

// QEMU calls kill(getpid(), signal) for that. Its only other use of libc's kill is to stop a
// process: kill(getpid(), SIGSTOP). The guest's own kill is a raw system call.
namespace halo::qemu {

namespace {

void (*action_before)() = nullptr;

int kill_after_action(pid_t process, int signal) {
  if (process == getpid() && signal != 0 && signal != SIGSTOP) action_before();
  return int(syscall(SYS_kill, process, signal));  // libc's kill may be redirected
}

constexpr uint64_t kPage = 4096;

constexpr uint64_t page_of(uint64_t address) { return address / kPage * kPage; }

// The whole pages that the dynamic linker has made read-only after relocation.
bool is_read_only(const dl_phdr_info& info, uint64_t address) {
  for (const Elf64_Phdr& segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (segment.p_type != PT_GNU_RELRO) continue;
    const uint64_t begin = page_of(info.dlpi_addr + segment.p_vaddr);
    const uint64_t end = page_of(info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
    if (begin <= address && address < end) return true;
  }
  return false;
}

// Lazy binding may write other pointers on the page at any time: it stays writable if it was.
bool redirect(const dl_phdr_info& info, uint64_t pointer) {
  void* page = reinterpret_cast<void*>(page_of(pointer));
  const bool read_only = is_read_only(info, pointer);
  if (read_only && mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) return false;
  *reinterpret_cast<uint64_t*>(pointer) = reinterpret_cast<uint64_t>(&kill_after_action);
  if (read_only) mprotect(page, kPage, PROT_READ);
  return true;
}

struct DynamicSection {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const Elf64_Rela* tables[2] = {};
  uint64_t sizes[2] = {};

  explicit DynamicSection(const Elf64_Dyn* entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto* at = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols = reinterpret_cast<const Elf64_Sym*>(at);
          break;
        case DT_STRTAB:
          strings = at;
          break;
        case DT_RELA:
          tables[0] = reinterpret_cast<const Elf64_Rela*>(at);
          break;
        case DT_JMPREL:
          tables[1] = reinterpret_cast<const Elf64_Rela*>(at);
          break;
        case DT_RELASZ:
          sizes[0] = entry->d_un.d_val;
          break;
        case DT_PLTRELSZ:
          sizes[1] = entry->d_un.d_val;
          break;
        default:
          break;
      }
    }
  }
};

// The first object is the executable.
int visit_executable(dl_phdr_info* info, size_t, void* done) {
  for (int at = 0; at < info->dlpi_phnum; ++at) {
    if (info->dlpi_phdr[at].p_type != PT_DYNAMIC) continue;
    const DynamicSection dynamic(
        reinterpret_cast<const Elf64_Dyn*>(info->dlpi_addr + info->dlpi_phdr[at].p_vaddr));
    for (int table = 0; table < 2; ++table) {
      for (uint64_t entry = 0; entry < dynamic.sizes[table] / sizeof(Elf64_Rela); ++entry) {
        const Elf64_Rela& relocation = dynamic.tables[table][entry];
        const uint32_t type = uint32_t(ELF64_R_TYPE(relocation.r_info));
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
        const Elf64_Sym& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
        if (strcmp(dynamic.strings + symbol.st_name, "kill") != 0) continue;
        *static_cast<bool*>(done) = redirect(*info, info->dlpi_addr + relocation.r_offset);
      }
    }
  }
  return 1;
}

}  // namespace

bool call_before_fatal_signal(void (*action)()) {
  action_before = action;
  bool done = false;
  dl_iterate_phdr(visit_executable, &done);
  return done;
}

}  // namespace halo::qemu
