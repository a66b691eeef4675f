// Registration of modules: copies their sections, since a module may be unloaded before its events
// are written.
#include "tracing/library/module_table.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "base/keep_errno.h"
#include "base/signals_blocked.h"
#include "tracing/library/elf_notes.h"
#include "tracing/library/process.h"
#include "tracing/library/producer.h"
#include "tracing/library/reentrancy_guard.h"

namespace halo::logging {

constinit ModuleTable modules;

namespace {

void* reserve_pages(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// Copies the three sections into one mapping.
bool copy_sections(const trace::ModuleNote& note, trace::ModuleNote& copy) {
  const auto bytes = [](const char* begin, const char* end) { return size_t(end - begin); };
  const size_t sites = bytes(note.sites, note.sites_end);
  const size_t types = bytes(note.types, note.types_end);
  const size_t strings = bytes(note.strings, note.strings_end);
  char* at = static_cast<char*>(reserve_pages(sites + types + strings + 1));
  if (at == nullptr) return false;
  copy = note;
  const auto take = [&at](const char* from, size_t count, const char*& begin, const char*& end) {
    if (count != 0) memcpy(at, from, count);
    begin = at;
    at += count;
    end = at;
  };
  take(note.sites, sites, copy.sites, copy.sites_end);
  take(note.types, types, copy.types, copy.types_end);
  take(note.strings, strings, copy.strings, copy.strings_end);
  return true;
}

void describe(LoggedModule& module) {
  const ReentrancyGuard own;
  Dl_info info{};
  const link_map* map = nullptr;
  if (dladdr1(module.note.sites, &info, const_cast<void**>(reinterpret_cast<const void**>(&map)),
              RTLD_DL_LINKMAP) == 0) {
    return;
  }
  const char* name = map->l_name;
  if (*name == '\0') name = "/proc/self/exe";
  if (realpath(name, module.path) == nullptr) strncpy(module.path, name, PATH_MAX - 1);
  const ElfNotes notes(reinterpret_cast<uint64_t>(info.dli_fbase));
  module.code = {notes.code_begin(), notes.code_end()};
  memcpy(module.build_id, notes.build_id(), sizeof module.build_id);
}

}  // namespace

void ModuleTable::add(const trace::ModuleNote& note) {
  if (note.version != trace::kSiteVersion || note.site_size != sizeof(trace::Site)) return;
  if (note.sites == note.sites_end) return;
  const SignalsBlocked blocked;
  const Locked locked(lock_);
  if (modules_ == nullptr) {
    modules_ = static_cast<LoggedModule*>(reserve_pages(kMax * sizeof(LoggedModule)));
  }
  const uint32_t at = count_.load(std::memory_order_relaxed);
  if (modules_ == nullptr || find(note) != nullptr || revive(note) || at == kMax) return;
  LoggedModule& module = modules_[at];
  if (!copy_sections(note, module.copy)) return;
  module.note = note;
  module.sites = {reinterpret_cast<uint64_t>(note.sites),
                  reinterpret_cast<uint64_t>(note.sites_end)};
  describe(module);
  count_.store(at + 1, std::memory_order_release);
  advance_epoch();
}

// A module that is loaded again, unchanged and at the same address, keeps its numbers.
bool ModuleTable::revive(const trace::ModuleNote& note) {
  LoggedModule* last = nullptr;
  for (uint32_t at = 0; at < count(); ++at) {
    if (modules_[at].sites.contains(reinterpret_cast<uint64_t>(note.sites))) last = &modules_[at];
  }
  if (last == nullptr || memcmp(&last->note, &note, sizeof note) != 0) return false;
  const auto same = [](const char* begin, const char* end, const char* copy) {
    return begin == end || memcmp(begin, copy, size_t(end - begin)) == 0;
  };
  if (!same(note.sites, note.sites_end, last->copy.sites) ||
      !same(note.types, note.types_end, last->copy.types) ||
      !same(note.strings, note.strings_end, last->copy.strings)) {
    return false;
  }
  last->gone_epoch = 0;
  advance_epoch();
  return true;
}

void ModuleTable::remove(const trace::ModuleNote& note) {
  const SignalsBlocked blocked;
  const Locked locked(lock_);
  LoggedModule* module = find(note);
  if (module == nullptr) return;
  const uint64_t epoch = advance_epoch();
  module->gone_epoch.store(epoch == 0 ? 1 : epoch, std::memory_order_release);
}

LoggedModule* ModuleTable::find(const trace::ModuleNote& note) {
  for (uint32_t at = 0; at < count(); ++at) {
    LoggedModule& module = modules_[at];
    if (module.gone_epoch.load(std::memory_order_relaxed) == 0 && module.note.sites == note.sites)
      return &module;
  }
  return nullptr;
}

bool ModuleTable::is_instrumented(uint64_t address) const {
  for (uint32_t at = 0; at < count(); ++at) {
    const LoggedModule& module = modules_[at];
    if (module.code.contains(address) && module.gone_epoch.load(std::memory_order_relaxed) == 0)
      return true;
  }
  return false;
}

void ModuleTable::keep_present() {
  new (&lock_) Lock;
  for (uint32_t at = 0; at < count(); ++at) modules_[at].first_site = 0;
}

}  // namespace halo::logging

extern "C" {
__attribute__((visibility("default"))) void halo_log_module_v1(
    const halo::trace::ModuleNote* note) {
  const halo::KeepErrno keep;
  if (halo::logging::is_requested()) halo::logging::modules.add(*note);
}

__attribute__((visibility("default"))) void halo_log_module_gone_v1(
    const halo::trace::ModuleNote* note) {
  const halo::KeepErrno keep;
  if (halo::logging::is_requested()) halo::logging::modules.remove(*note);
}
}
