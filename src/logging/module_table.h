// The instrumented modules of this process, present and gone, each with a copy of its sections.
#pragma once

#include <limits.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "logging/futex.h"
#include "trace/site.h"

namespace halo::logging {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool contains(uint64_t address) const { return address - begin < end - begin; }
};

struct LoggedModule {
  trace::ModuleNote note;  // as it lies in the program
  trace::ModuleNote copy;  // the same sections, ours
  AddressRange sites;
  AddressRange code;
  // 0 while it is there. Its own events belong to earlier epochs, those of what follows it at the
  // same addresses do not.
  std::atomic<uint64_t> gone_epoch;
  uint64_t first_site;  // the consumer's; 0: not written yet
  char path[PATH_MAX];
  char build_id[129];
};

class ModuleTable {
 public:
  static constexpr uint32_t kMost = 1 << 13;

  // By the module's constructor and destructor.
  void add(const trace::ModuleNote& note);
  void remove(const trace::ModuleNote& note);

  // Whether the address lies in code of a module that is there.
  bool is_instrumented(uint64_t address) const;

  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  LoggedModule& operator[](uint32_t at) { return modules_[at]; }

  Lock& lock() { return lock_; }
  // In a forked child: those that are there have to be written again.
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
