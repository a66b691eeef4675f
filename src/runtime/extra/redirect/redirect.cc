// Decodes direct calls, allocates thunks within their reach, and replaces pages of code.
#include "runtime/extra/redirect/redirect.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "plan/format.h"
#include "runtime/extra/redirect/active_sites.h"
#include "runtime/extra/redirect/thunks.h"

namespace halo::runtime {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr size_t kMaxSegments = 8;
constexpr uint8_t kDirectCall = 0xE8;

struct Range {
  uintptr_t begin, end;
  bool contains(uintptr_t from, uintptr_t bytes) const {
    return from >= begin && from < end && end - from >= bytes;
  }
};

// The read-only executable segments of a module, and the range of the whole module.
struct ModuleCode {
  uintptr_t bias;
  bool found;
  Range whole;
  Range code[kMaxSegments];
  size_t segments;

  bool contains(uintptr_t from, uintptr_t bytes) const {
    return std::any_of(code, code + segments,
                       [&](const Range& range) { return range.contains(from, bytes); });
  }
};

// The thunks of a module at an address: built once, and reused if the module is loaded there again.
// If it is loaded elsewhere, it was unmapped before, and no thread runs in them any more.
struct Thunks {
  Thunks* older;
  uint32_t module;
  uintptr_t bias;
  uintptr_t code;  // the i-th thunk is that of call i
  size_t bytes;    // of the code
  uintptr_t targets[plan::kMaxSites];
};
constinit Thunks* all_thunks = nullptr;

int inspect_code(dl_phdr_info* info, size_t, void* data) {
  auto& module = *static_cast<ModuleCode*>(data);
  if (info->dlpi_addr != module.bias) return 0;
  module.whole = {~uintptr_t{0}, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const Range range{module.bias + part.p_vaddr, module.bias + part.p_vaddr + part.p_memsz};
    module.whole = {std::min(module.whole.begin, range.begin),
                    std::max(module.whole.end, range.end)};
    if (part.p_flags == (PF_R | PF_X) && module.segments < kMaxSegments)
      module.code[module.segments++] = range;
  }
  module.found = true;
  return 1;
}

// The target of the call that returns to that address; 0 if it is not a direct call or leaves the
// module.
uintptr_t target_of(const ModuleCode& module, uintptr_t return_address) {
  const uintptr_t call = return_address - plan::kCallBytes;
  if (!module.contains(call, plan::kCallBytes)) return 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(call);
  if (bytes[0] != kDirectCall) return 0;
  int32_t displacement;
  std::memcpy(&displacement, bytes + 1, sizeof displacement);
  return return_address + static_cast<uintptr_t>(intptr_t{displacement});
}

void* map_at(uintptr_t address, size_t bytes) {
  void* wanted = reinterpret_cast<void*>(address);
  void* p = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (p == wanted) return p;
  munmap(p, bytes);
  return nullptr;
}

// Prefers memory below the module: the program's heap may grow above it.
void* map_near(const Range& module, size_t bytes) {
  constexpr uintptr_t kFarthest = 512u << 20, kStep = 64 << 10, kLowest = 64 << 10;
  const uintptr_t begin = module.begin & ~(kPage - 1);
  for (uintptr_t away = bytes; away < kFarthest && away + kLowest <= begin; away += kStep)
    if (void* p = map_at(begin - away, bytes)) return p;
  const uintptr_t end = (module.end + kPage - 1) & ~(kPage - 1);
  for (uintptr_t away = 0; away < kFarthest; away += kStep)
    if (void* p = map_at(end + away, bytes)) return p;
  return nullptr;
}

// The module's thunks at that address; unmaps those of its earlier addresses.
const Thunks* find_thunks(uint32_t module, uintptr_t bias) {
  for (Thunks** at = &all_thunks; *at != nullptr; at = &(*at)->older) {
    Thunks* thunks = *at;
    if (thunks->module != module) continue;
    if (thunks->bias == bias) return thunks;
    *at = thunks->older;
    munmap(reinterpret_cast<void*>(thunks->code), thunks->bytes);
    munmap(thunks, sizeof *thunks);
    return nullptr;
  }
  return nullptr;
}

const Thunks* make_thunks(uint32_t number, const ModuleCode& module, std::span<const Call> calls) {
  void* memory =
      mmap(nullptr, sizeof(Thunks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const size_t bytes = (calls.size() * kThunkBytes + kPage - 1) & ~(kPage - 1);
  void* code = map_near(module.whole, bytes);
  if (code == nullptr) {
    munmap(memory, sizeof(Thunks));
    return nullptr;
  }
  auto* thunks = static_cast<Thunks*>(memory);
  thunks->module = number;
  thunks->bias = module.bias;
  thunks->code = reinterpret_cast<uintptr_t>(code);
  thunks->bytes = bytes;
  std::memset(code, 0xCC, bytes);
  for (size_t i = 0; i < calls.size(); ++i) {
    const uintptr_t target = target_of(module, calls[i].return_address);
    if (!module.contains(target, 1)) continue;
    const Thunk thunk{calls[i].site, calls[i].step, active_sites_offset(), target};
    const uintptr_t at = thunks->code + i * kThunkBytes;
    if (write_thunk(thunk, reinterpret_cast<uint8_t*>(at), at)) thunks->targets[i] = target;
  }
  if (mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(code, bytes);
    munmap(memory, sizeof(Thunks));
    return nullptr;
  }
  thunks->older = all_thunks;
  all_thunks = thunks;
  return thunks;
}

// Changes four bytes of code. A copy of the pages replaces them in one step, so no thread executes
// a partial change or a page that is not executable. No page is writable and executable at once.
bool change_code(uintptr_t at, int32_t value) {
  const uintptr_t begin = at & ~(kPage - 1);
  const size_t bytes = ((at + sizeof value - 1) & ~(kPage - 1)) + kPage - begin;
  void* copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  void* place = reinterpret_cast<void*>(begin);
  std::memcpy(copy, place, bytes);
  std::memcpy(static_cast<char*>(copy) + (at - begin), &value, sizeof value);
  if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) == 0 &&
      mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
    return true;
  munmap(copy, bytes);
  return false;
}

bool redirect(const ModuleCode& module, const Thunks& thunks, size_t number,
              uintptr_t return_address) {
  const uintptr_t thunk = thunks.code + number * kThunkBytes;
  const uintptr_t target = target_of(module, return_address);
  if (thunks.targets[number] == 0) return false;
  if (target == thunk) return true;
  const auto distance = static_cast<int64_t>(thunk - return_address);
  const auto displacement = static_cast<int32_t>(distance);
  if (target != thunks.targets[number] || displacement != distance) return false;
  return change_code(return_address - sizeof displacement, displacement);
}

}  // namespace

void redirect_calls(uint32_t module, uintptr_t bias, std::span<Call> calls) {
  ModuleCode code{};
  code.bias = bias;
  dl_iterate_phdr(inspect_code, &code);
  const Thunks* thunks = nullptr;
  if (code.found && calls.size() <= plan::kMaxSites) {
    thunks = find_thunks(module, bias);
    if (thunks == nullptr) thunks = make_thunks(module, code, calls);
  }
  for (size_t i = 0; i < calls.size(); ++i)
    calls[i].redirected = thunks != nullptr && redirect(code, *thunks, i, calls[i].return_address);
}

}  // namespace halo::runtime
