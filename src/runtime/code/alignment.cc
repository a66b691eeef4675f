#include "runtime/code/alignment.h"

#include <sys/auxv.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/base/next.h"
#include "runtime/code/build_id.h"
#include "runtime/code/code_writer.h"

namespace halo::runtime {

constinit std::atomic<bool> all_to_16{true};

namespace {

constinit unsigned long relaxed = 0;
constinit std::atomic<const char*> obstacle{nullptr};
constinit bool met_unlike = false;

// The bias of each checked module whose code was compared, plus 1: its relaxed code differs.
constinit uintptr_t compared[plan::kMaxModules]{};

bool contains(const dl_phdr_info& module, uintptr_t address) {
  return std::any_of(
      module.dlpi_phdr, module.dlpi_phdr + module.dlpi_phnum, [&](const ElfW(Phdr) & part) {
        return part.p_type == PT_LOAD && address - module.dlpi_addr - part.p_vaddr < part.p_memsz;
      });
}

template <typename Function>
bool defines(const dl_phdr_info& module, Function* function) {
  return contains(module, reinterpret_cast<uintptr_t>(function));
}

std::string_view name_of(const dl_phdr_info& module) {
  std::string_view path = module.dlpi_name == nullptr ? "" : module.dlpi_name;
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

// Libraries that never access the program's objects with vector instructions: the vDSO, the
// runtime, halo's other preloaded libraries, and the next allocator, which accesses only its own
// blocks.
bool is_exempt(const dl_phdr_info& module) {
  const unsigned long kernel = getauxval(AT_SYSINFO_EHDR);
  if (kernel != 0 && contains(module, kernel)) return true;
  if (defines(module, &begin_alignment)) return true;
  const std::string_view name = name_of(module);
  if (name == "libhalo-detector.so" || name == "libhalo-litterer.so") return true;
  if (kCheckingBuild && (name.starts_with("libunwind") || name.starts_with("liblzma"))) return true;
  return name != "libc.so.6" && defines(module, next.malloc);
}

// The module's index among the checked modules, or their count if it is not one of them.
size_t find_checked(const dl_phdr_info& module) {
  const auto build_id = build_id_of(module);
  const auto& checked = active_plan.checked_modules;
  for (size_t i = 0; i < checked.size(); ++i) {
    if (!has_build_id(checked[i], build_id)) continue;
    if (compared[i] == module.dlpi_addr + 1 || has_code(checked[i], module)) {
      compared[i] = module.dlpi_addr + 1;
      return i;
    }
    met_unlike = true;
  }
  return checked.size();
}

std::span<const plan::Relaxation> relaxations_of(size_t number) {
  size_t first = 0;
  for (size_t i = 0; i < number; ++i) first += active_plan.checked_modules[i].relaxations;
  return active_plan.relaxations.subspan(first, active_plan.checked_modules[number].relaxations);
}

// Whether the byte and its neighbours are in a mapped code segment that is not writable.
bool is_code(const dl_phdr_info& module, uint64_t offset) {
  return std::any_of(
      module.dlpi_phdr, module.dlpi_phdr + module.dlpi_phnum, [&](const ElfW(Phdr) & part) {
        constexpr uint64_t kAround = 4;
        return part.p_type == PT_LOAD && part.p_flags == (PF_R | PF_X) &&
               offset >= part.p_vaddr + kAround && offset + kAround < part.p_vaddr + part.p_filesz;
      });
}

// Whether the bytes encode an aligned vector move (legacy, VEX or EVEX) and the change makes it the
// unaligned one. The plan has checked this as well, but its contents may be damaged.
bool is_relaxation(const uint8_t* at, uint8_t before, uint8_t after) {
  const auto is_move = [](uint8_t opcode) { return opcode == 0x6F || opcode == 0x7F; };
  if (before == 0x28 || before == 0x29)
    return after == before - 0x18 &&
           (at[-1] == 0x0F || at[-2] == 0xC5 || at[-3] == 0xC4 || at[-4] == 0x62);
  if (before == 0x66 && after == 0xF3) {
    const uint8_t* escape = (at[1] & 0xF0) == 0x40 ? at + 2 : at + 1;  // past a REX prefix
    return escape[0] == 0x0F && is_move(escape[1]);
  }
  return (before & 3) == 1 && after == (before ^ 3) &&
         (((at[-1] == 0xC5 || at[-2] == 0xC4) && is_move(at[1])) ||
          (at[-2] == 0x62 && is_move(at[2])));
}

bool relax(const dl_phdr_info& module, std::span<const plan::Relaxation> relaxations) {
  CodeWriter writer;
  for (const plan::Relaxation& each : relaxations) {
    if (!is_code(module, each.offset)) return false;
    auto* at = reinterpret_cast<const uint8_t*>(module.dlpi_addr + each.offset);
    if (*at == each.after) continue;  // already relaxed
    if (*at != each.before || !is_relaxation(at, each.before, each.after)) return false;
    if (!writer.write(at, each.after)) return false;
    ++relaxed;
  }
  return true;
}

int find_unknown(dl_phdr_info* module, size_t, void*) {
  return find_checked(*module) == active_plan.checked_modules.size() && !is_exempt(*module);
}

const char* unknown_module() {
  return met_unlike ? "a module has the build-id of a checked one, but other code"
                    : "a module is not one of those that the plan has checked";
}

int relax_module(dl_phdr_info* module, size_t, void*) { return !check_alignment_of(*module); }

}  // namespace

void begin_alignment(bool generates_code) {
  if (active_plan.checked_modules.empty()) return;
  if (generates_code) return align_all_to_16(kProgramGeneratesCode);
  // If any module is not covered, relaxing the others would copy code pages for nothing.
  if (dl_iterate_phdr(find_unknown, nullptr) != 0) return align_all_to_16(unknown_module());
  all_to_16 = false;
  dl_iterate_phdr(relax_module, nullptr);
}

bool check_alignment_of(const dl_phdr_info& module) {
  if (aligns_all_to_16()) return false;
  const size_t number = find_checked(module);
  const bool known = number < active_plan.checked_modules.size();
  if (known ? relax(module, relaxations_of(number)) : is_exempt(module)) return true;
  align_all_to_16(known ? "code cannot be relaxed" : unknown_module());
  return false;
}

void forget_checked_modules_but(size_t count) {
  if (aligns_all_to_16()) return;
  struct Search {
    size_t left;
    std::bitset<plan::kMaxModules> present;
  } search{count, {}};
  const auto note = [](dl_phdr_info* module, size_t, void* data) {
    auto& of = *static_cast<Search*>(data);
    if (of.left == 0) return 1;
    --of.left;
    for (size_t i = 0; i < active_plan.checked_modules.size(); ++i)
      if (compared[i] == module->dlpi_addr + 1) of.present.set(i);
    return 0;
  };
  dl_iterate_phdr(note, &search);
  for (size_t i = 0; i < active_plan.checked_modules.size(); ++i)
    if (!search.present[i]) compared[i] = 0;
}

void align_all_to_16(const char* reason) {
  obstacle.store(reason, std::memory_order_relaxed);
  all_to_16.store(true, std::memory_order_relaxed);
}

const char* alignment_obstacle() { return obstacle.load(std::memory_order_relaxed); }

unsigned long relaxed_instructions() { return relaxed; }

}  // namespace halo::runtime
