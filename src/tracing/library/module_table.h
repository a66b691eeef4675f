// The instrumented modules of this process, loaded and unloaded, each with a copy of its sections.
#pragma once

#include <limits.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/build_id.h"
#include "base/memory_map.h"
#include "tracing/format/site.h"
#include "tracing/library/futex.h"

namespace halo::logging {

struct LoggedModule {
  trace::ModuleNote note;  // in the program's memory
  trace::ModuleNote copy;  // the copy of its sections
  AddressRange sites;
  AddressRange code;
  // 0 while the module is loaded, else the epoch of its removal. Its own events belong to earlier
  // epochs; events of a later module at the same addresses do not.
  std::atomic<uint64_t> gone_epoch;
  uint64_t first_site;  // written by the consumer; 0: not written to the trace yet
  char path[PATH_MAX];
  BuildIdText build_id;
};

class ModuleTable {
 public:
  static constexpr uint32_t kMax = 1 << 13;

  // Called by the module's constructor and destructor.
  void add(const trace::ModuleNote& note);
  void remove(const trace::ModuleNote& note);

  // Whether the address is in the code of a loaded module.
  bool is_instrumented(uint64_t address) const;

  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  LoggedModule& operator[](uint32_t at) { return modules_[at]; }

  Lock& lock() { return lock_; }
  // Called in a forked child: loaded modules must be written again.
  void keep_present();

 private:
  LoggedModule* find(const trace::ModuleNote& note);
  bool revive(const trace::ModuleNote& note);

  Lock lock_;
  std::atomic<uint32_t> count_{0};
  LoggedModule* modules_ = nullptr;
};

extern ModuleTable modules;

}  // namespace halo::logging
