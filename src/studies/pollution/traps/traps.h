// Reports the next access to a page of this process (NightWatch, section 5.1, arms pages by their
// protection). Needs userfaultfd with UFFDIO_MOVE (Linux 6.8) and CAP_SYS_PTRACE.
//
// An armed page is moved to the parking range, so that its next access faults. The faulting thread
// waits, also inside a system call, until the page is back. No signal and no copy of the page is
// involved, and the page keeps its frame.
//
// One thread, the server, owns the traps: it alone calls the functions, and it must not access
// armed pages, also not through locks or memory of the program. It has a table of open files of its
// own, so that the program neither sees the descriptor nor closes it.
//
// An armed page is a mapping of its own to the kernel, so mremap of a range with armed pages fails;
// of one page alone it does not. The server should have them disarmed before.
//
// Invariants:
// - A page is armed if and only if it is in `slots_`; then its content is in that slot of the
//   parking range, its address has no page and is registered.
// - Pages that are not armed are not registered. So faults of fresh memory are never reported,
//   unless the kernel had no mapping left to end a registration: such faults are given a zero page.
// - The bell is armed like a page, in the last slot, but is not in `slots_`.
// - The parking range is not inherited by children. A child receives the content of armed pages
//   when its event is read, and until then waits if it accesses one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "studies/pollution/monitor/number_map.h"
#include "studies/pollution/traps/user_faults.h"

namespace halo::traps {

inline constexpr size_t kPageBytes = 4096;

class Listener {
 public:
  // An access to that page, which is not armed any more. Its thread goes on.
  virtual void accessed(uintptr_t page) = 0;
  // The page was unmapped, discarded or moved to another address, and is not armed any more.
  virtual void lost(uintptr_t page) = 0;
  // The bell was read. Its readers go on after this returns.
  virtual void rung() = 0;

 protected:
  ~Listener() = default;
};

// Why traps cannot be used.
enum class Refusal : uint8_t {
  kNone,
  kNoPrivilege,  // userfaultfd is refused, or CAP_SYS_PTRACE is missing
  kNoKernel,     // no userfaultfd, or no UFFDIO_MOVE
  kNoMemory,
};
const char* text_of(Refusal refusal);

// Whether traps can be used, as far as the kernel tells without memory of theirs.
Refusal probe();

class Traps {
 public:
  // Room for that many armed pages. All memory is allocated here.
  explicit Traps(uint32_t capacity);
  Traps(const Traps&) = delete;
  Traps& operator=(const Traps&) = delete;

  // Must be called once, by the server, before the other functions. The caller's open files are
  // closed for the server alone.
  Refusal open();
  // Disarms all pages. Must be called by the server if `open` succeeded, before it ends.
  void close();

  // Returns false if the page cannot be armed: it was never written to, is shared with a child,
  // pinned for a device, part of a huge page, or there is no room. `page` is an address.
  bool arm(uintptr_t page);
  // Arms the pages from `begin` to `end` that can be armed, if the kernel tells which are present.
  void arm_range(uintptr_t begin, uintptr_t end);
  // Limits the armed pages so that the program keeps half of the mappings that it may still make:
  // an armed page is a mapping, and parts another one. To be called before pages are armed, as the
  // kernel takes a microsecond for each mapping to tell their number.
  void leave_mappings();
  // Does nothing if the page is not armed.
  void disarm(uintptr_t page);
  void disarm_all();
  bool is_armed(uintptr_t page) const { return slots_.find(page) != watch::NumberMap::kAbsent; }
  uint32_t armed() const { return capacity_ - static_cast<uint32_t>(free_.size()); }

  // A page for the other threads: a read of it waits until the server has seen it. A thread that
  // reads it while the server arms it again does not wait, so readers repeat until they see what
  // they wait for. It does nothing in a child.
  const volatile char* bell() const { return reinterpret_cast<const volatile char*>(bell_); }

  // For a broker of frames (frames/broker.h), which runs in the server, too. None of the pages may
  // be armed.

  // Threads that access an absent page of the range wait until it is there, or the range is
  // unregistered. Returns false if the kernel refuses.
  bool register_range(uintptr_t at, size_t bytes);
  // Returns false if the range would be a part of a mapping, and there is no room for another one.
  bool unregister_range(uintptr_t at, size_t bytes);
  // Moves present pages to absent ones, which are registered. Returns how many were moved: fewer
  // than `count` if the kernel refuses the next one. A present page in place of an absent one
  // counts as moved.
  size_t move_pages(uintptr_t to, uintptr_t from, size_t count);
  // Gives the pages from `page` on, which are registered, the frames of those from `fresh` on, and
  // keeps their content. Their old frames are then in the range `staging`, which is registered, not
  // inherited by children, and has no pages before. Returns how many pages have new frames: fewer
  // than `count` if the kernel refuses the next one.
  size_t replace_frames(uintptr_t page, uintptr_t staging, uintptr_t fresh, size_t count);
  // Threads that fork wait for the server. For one that works for long.
  void serve_forks() { read_ahead(); }

  // Serves events until there are none, or some batches; waits for the first up to `ns`
  // nanoseconds.
  void wait(int64_t ns, Listener& listener);

 private:
  using Events = std::array<uffd_msg, 16>;

  // Whether a page is in its slot.
  enum class Parked : uint8_t {
    kNo,
    // The slot has a page, this one or, after mlockall, one of zeroes (page_requests.h). It is
    // right to bring it back: this does nothing if the page never left.
    kPerhaps,
    kYes,
  };

  uintptr_t slot_of(uint32_t number) const { return parking_ + number * kPageBytes; }
  size_t parking_bytes() const { return (size_t{capacity_} + 1) * kPageBytes; }
  bool is_huge(uintptr_t page) const;
  // Whether the address has a page, as far as the kernel tells.
  bool has_page(uintptr_t address) const;
  Parked park(uint32_t slot, uintptr_t page);
  bool take(uintptr_t page);
  void give_zeroes(uintptr_t page);
  void arm_bell();
  void release_bell();

  long move(uintptr_t to, uintptr_t from);
  void put_back(uintptr_t to, uintptr_t from);
  void bring_back(uint32_t slot, uintptr_t to);
  void discard(uint32_t slot);
  // The armed page is at address `registered` now.
  void forget(uintptr_t page, uintptr_t registered);

  static uint32_t read_events(int file, Events& events);
  void read_ahead();
  void adopt(const Events& events, uint32_t count);
  void fill_children();
  void fill(int child, uintptr_t page, uintptr_t from);
  void serve_removal(const uffd_msg& event);
  void serve(const uffd_msg& event, Listener& listener);
  void serve_fault(uintptr_t page, Listener& listener);
  void serve_put_off(Listener& listener);
  void lose(uintptr_t from, uintptr_t end);
  void tell_lost(Listener& listener);
  void follow(uintptr_t from, uintptr_t to, size_t bytes, Listener& listener);

  // Pages that a broker works on. The content of those that are not in their place is in as many
  // pages from `at` on, which are absent otherwise.
  struct Away {
    uintptr_t page = 0, at = 0;
    size_t count = 0;
  };

  // A page that is on its way back.
  struct Returning {
    uint32_t slot = UINT32_MAX;
    uintptr_t to = 0;
    bool is_lost = false;
  };

  uint32_t capacity_;
  uint32_t max_armed_;  // at most `capacity_`
  int file_ = kNoFile;
  int page_map_ = kNoFile;
  int maps_ = kNoFile;
  bool is_rung_ = false;
  bool bell_is_armed_ = false;
  // After a ring the bell stays as it is for the next wait, which is short. A thread that rang
  // needs microseconds until it reads the page again, and would find it armed again.
  bool bell_rests_ = false;
  uintptr_t parking_ = 0;
  uintptr_t bell_ = 0;
  watch::NumberMap slots_;         // of armed pages
  std::vector<uintptr_t> pages_;   // of each slot; 0: free
  std::vector<uint32_t> free_;     // slots
  std::vector<uffd_msg> put_off_;  // in their order
  std::vector<uintptr_t> lost_;    // pages of which the listener does not know yet
  Returning returning_;
  std::vector<int> children_;  // their files
  Away away_;
};

}  // namespace halo::traps
