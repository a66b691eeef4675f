#include "studies/pollution/traps/traps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "studies/pollution/traps/mappings.h"
#include "studies/pollution/traps/page_requests.h"

namespace halo::traps {

namespace {

constexpr int64_t kBellRestNs = 100'000;  // until the bell is armed again
constexpr int kMaxBatches = 16;           // of events, before the server does something else
constexpr size_t kMaxPutOff = 4096;       // events, of as many threads
constexpr uint32_t kMappingsOfPage = 2;   // an armed page's own, and one as it parts another

Refusal refusal_of(long error) {
  switch (error) {
    case -EPERM:
    case -EACCES:
      return Refusal::kNoPrivilege;
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
      return Refusal::kNoMemory;
    default:
      return Refusal::kNoKernel;
  }
}

Refusal open_file(int& opened) {
  const long file = call(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return refusal_of(file);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE |
                 UFFD_FEATURE_EVENT_UNMAP | kFeatureMove;
  const long answer = control(static_cast<int>(file), UFFDIO_API, api);
  if (answer != 0) {
    close_file(static_cast<int>(file));
    return refusal_of(answer);
  }
  opened = static_cast<int>(file);
  return Refusal::kNone;
}

}  // namespace

Refusal probe() {
  int file = -1;
  const Refusal refusal = open_file(file);
  if (refusal == Refusal::kNone) close_file(file);
  return refusal;
}

const char* text_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "";
    case Refusal::kNoPrivilege:
      return "userfaultfd is refused: it needs CAP_SYS_PTRACE, and no filter against it";
    case Refusal::kNoKernel:
      return "the kernel has no userfaultfd that moves pages (Linux 6.8)";
    case Refusal::kNoMemory:
      return "there is no memory";
  }
  return "";
}

Traps::Traps(uint32_t capacity)
    : capacity_(capacity), max_armed_(capacity), slots_(capacity), pages_(capacity) {
  free_.reserve(capacity);
  put_off_.reserve(kMaxPutOff);
  lost_.reserve(capacity);
  children_.reserve(kMaxPutOff);
  for (uint32_t slot = capacity; slot-- > 0;) free_.push_back(slot);
}

// The bell stays mapped: threads may still read it.
void Traps::close() {
  if (file_ == kNoFile) return;
  disarm_all();
  release_bell();
  close_file(file_);
  if (page_map_ != kNoFile) close_file(page_map_);
  if (maps_ != kNoFile) close_file(maps_);
  call(SYS_munmap, static_cast<long>(parking_), static_cast<long>(parking_bytes()));
  file_ = page_map_ = maps_ = kNoFile;
}

// An emulator of system calls would close its own files. So a flag that does not exist tells first
// whether the kernel has userfaultfd, which such emulators have not.
Refusal Traps::open() {
  constexpr long kNoFlag = 1 << 30;
  constexpr long kEverything = ~0u;
  constexpr long kUnshare = 1 << 1;
  if (const long answer = call(SYS_userfaultfd, kNoFlag); answer != -EINVAL)
    return refusal_of(answer);
  const long unshared = call(SYS_close_range, 0, kEverything, kUnshare);
  if (unshared != 0) return refusal_of(unshared);
  if (const Refusal refusal = open_file(file_); refusal != Refusal::kNone) return refusal;
  parking_ = map_bytes(parking_bytes());
  bell_ = map_bytes(kPageBytes);
  if (parking_ == 0 || bell_ == 0 || advise(parking_, parking_bytes(), MADV_DONTFORK) != 0 ||
      !register_range(parking_, parking_bytes())) {
    close_file(file_);
    file_ = kNoFile;
    return Refusal::kNoMemory;
  }
  advise(parking_, parking_bytes(), MADV_NOHUGEPAGE);
  advise(bell_, kPageBytes, MADV_NOHUGEPAGE);
  arm_bell();
  page_map_ = open_to_read("/proc/self/pagemap");
  maps_ = open_to_read("/proc/self/maps");
  return Refusal::kNone;
}

bool Traps::register_range(uintptr_t at, size_t bytes) {
  uffdio_register request{};
  request.range = {at, bytes};
  request.mode = UFFDIO_REGISTER_MODE_MISSING;
  return control(file_, UFFDIO_REGISTER, request) == 0;
}

bool Traps::unregister_range(uintptr_t at, size_t bytes) {
  uffdio_range range{at, bytes};
  return control(file_, UFFDIO_UNREGISTER, range) != -ENOMEM;
}

// To a page without content that is registered, but not armed.
void Traps::give_zeroes(uintptr_t page) {
  uffdio_zeropage request{};
  request.range = {page, kPageBytes};
  control(file_, UFFDIO_ZEROPAGE, request);
}

// Zero, or a negative error number.
long Traps::move(uintptr_t to, uintptr_t from) {
  MoveRequest request{to, from, kPageBytes, 0, 0};
  const long answer = control(file_, kMove, request);
  return answer == -EAGAIN && request.moved < 0 ? static_cast<long>(request.moved) : answer;
}

bool Traps::is_huge(uintptr_t page) const {
  if (page_map_ == kNoFile) return false;
  PageRegion region{};
  ScanRequest request{};
  request.size = sizeof request;
  request.start = page;
  request.end = page + kPageBytes;
  request.regions = reinterpret_cast<uintptr_t>(&region);
  request.region_count = 1;
  request.category_mask = kPageIsHuge;
  request.return_mask = kPageIsHuge;
  return control(page_map_, kScanPages, request) > 0;
}

bool Traps::has_page(uintptr_t address) const {
  constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
  uint64_t entry = 0;
  const long bytes = call(SYS_pread64, page_map_, reinterpret_cast<long>(&entry), sizeof entry,
                          static_cast<long>(address / kPageBytes * sizeof entry));
  return bytes == sizeof entry && (entry & kPresentOrSwapped) != 0;
}

bool Traps::arm(uintptr_t page) { return !is_armed(page) && !is_huge(page) && take(page); }

void Traps::arm_range(uintptr_t begin, uintptr_t end) {
  std::array<PageRegion, 64> regions;
  ScanRequest request{};
  request.size = sizeof request;
  request.end = end;
  request.regions = reinterpret_cast<uintptr_t>(regions.data());
  request.region_count = regions.size();
  request.category_inverted = kPageIsZero | kPageIsHuge;
  request.category_mask = kPageIsPresent | request.category_inverted;
  request.return_mask = kPageIsPresent;
  while (begin < end && page_map_ != kNoFile && armed() < max_armed_) {
    request.start = begin;
    const long found = control(page_map_, kScanPages, request);
    if (found <= 0) return;
    for (long at = 0; at < found; ++at)
      for (uintptr_t page = regions[at].start; page < regions[at].end; page += kPageBytes)
        take(page);
    begin = request.walk_end;
  }
}

// Registers a page, which is not armed, and moves it to a free slot.
Traps::Parked Traps::park(uint32_t slot, uintptr_t page) {
  if (!register_range(page, kPageBytes)) return Parked::kNo;
  const long answer = move(slot_of(slot), page);
  if (answer == 0) return Parked::kYes;
  if (answer == -EEXIST) return Parked::kPerhaps;
  unregister_range(page, kPageBytes);
  return Parked::kNo;
}

void Traps::leave_mappings() {
  const uint64_t left = mappings_left(maps_);
  max_armed_ = static_cast<uint32_t>(std::min<uint64_t>(capacity_, left / 2 / kMappingsOfPage));
}

bool Traps::take(uintptr_t page) {
  if (armed() >= max_armed_) return false;
  const uint32_t slot = free_.back();
  const Parked parked = park(slot, page);
  if (parked == Parked::kNo) return false;
  free_.pop_back();
  pages_[slot] = page;
  slots_.insert(page, slot);
  if (parked == Parked::kYes) return true;
  disarm(page);
  discard(slot);
  return false;
}

void Traps::disarm(uintptr_t page) {
  const uint32_t slot = slots_.find(page);
  if (slot == watch::NumberMap::kAbsent) return;
  bring_back(slot, page);
  forget(page, page);
}

void Traps::disarm_all() {
  for (const uintptr_t page : pages_)
    if (page != 0) disarm(page);
}

// Threads may read the bell meanwhile: it is present or armed at any time, so no read maps a new
// page. The write breaks the sharing with a child.
void Traps::arm_bell() {
  *reinterpret_cast<volatile char*>(bell_) = 0;
  const Parked parked = park(capacity_, bell_);
  bell_is_armed_ = parked != Parked::kNo;
  if (parked != Parked::kPerhaps) return;
  release_bell();
  discard(capacity_);
}

// Its readers go on.
void Traps::release_bell() {
  if (!bell_is_armed_) return;
  bring_back(capacity_, bell_);
  unregister_range(bell_, kPageBytes);
  bell_is_armed_ = false;
}

// Moves the content of the slot to the address `to`, whose waiting threads go on. A move fails
// while another thread forks, until its event is read. It also fails if the page is protected or
// pinned; then the page is copied. If the program discards it meanwhile, it does not come back.
void Traps::bring_back(uint32_t slot, uintptr_t to) {
  returning_ = {slot, to, false};
  for (;;) {
    long answer = move(to, slot_of(slot));
    if (is_settled(answer)) break;
    if (answer != -EAGAIN) answer = copy_page(file_, to, slot_of(slot));
    if (answer != -EAGAIN && !is_settled(answer)) pause_thread(kRetryNs);
    if (!is_settled(answer)) read_ahead();
    if (!is_settled(answer) && !returning_.is_lost) continue;
    discard(slot);
    break;
  }
  returning_ = {};
}

// Its slot is registered, and discarding a registered page would be an event for this thread.
void Traps::discard(uint32_t slot) {
  if (!unregister_range(slot_of(slot), kPageBytes)) return;
  advise(slot_of(slot), kPageBytes, kDiscardLocked);
  register_range(slot_of(slot), kPageBytes);
}

void Traps::forget(uintptr_t page, uintptr_t registered) {
  const uint32_t slot = slots_.find(page);
  slots_.erase(page);
  pages_[slot] = 0;
  free_.push_back(slot);
  unregister_range(registered, kPageBytes);
}

uint32_t Traps::read_events(int file, Events& events) {
  const long bytes = call(SYS_read, file, reinterpret_cast<long>(events.data()), sizeof events);
  return bytes <= 0 ? 0 : static_cast<uint32_t>(static_cast<size_t>(bytes) / sizeof events[0]);
}

// Reads events in the middle of another one. Children are served at once, and pages discarded: the
// program may already write to them again. A fault is put off: its thread faults again once it is
// woken.
void Traps::read_ahead() {
  Events events;
  const uint32_t count = read_events(file_, events);
  adopt(events, count);
  for (uint32_t at = 0; at < count; ++at) {
    const uffd_msg& event = events[at];
    if (event.event == UFFD_EVENT_PAGEFAULT)
      wake(file_, page_at(event.arg.pagefault.address));
    else if (event.event == UFFD_EVENT_REMAP && put_off_.size() < put_off_.capacity())
      put_off_.push_back(event);
    serve_removal(event);
  }
  fill_children();
}

void Traps::serve_removal(const uffd_msg& event) {
  if (event.event == UFFD_EVENT_REMOVE || event.event == UFFD_EVENT_UNMAP)
    lose(event.arg.remove.start, event.arg.remove.end);
}

void Traps::serve(const uffd_msg& event, Listener& listener) {
  switch (event.event) {
    case UFFD_EVENT_PAGEFAULT:
      return serve_fault(page_at(event.arg.pagefault.address), listener);
    case UFFD_EVENT_REMAP:
      return follow(event.arg.remap.from, event.arg.remap.to, event.arg.remap.len, listener);
    default:
      return;
  }
}

void Traps::serve_fault(uintptr_t page, Listener& listener) {
  if (page == bell_ && bell_is_armed_) {
    is_rung_ = true;
  } else if (is_armed(page)) {
    disarm(page);
    listener.accessed(page);
  } else {
    // Two threads accessed it; or a registration could not be ended; or mlockall fills a free slot.
    if (page - parking_ >= parking_bytes()) unregister_range(page, kPageBytes);
    give_zeroes(page);
    wake(file_, page);
  }
}

// The pages from `from` to `end` were unmapped or discarded. Those that a broker works on are
// zeroes from now on.
void Traps::lose(uintptr_t from, uintptr_t end) {
  if (returning_.to >= from && returning_.to < end) returning_.is_lost = true;
  for (uint32_t slot = 0; slot < capacity_; ++slot) {
    const uintptr_t page = pages_[slot];
    if (page < from || page >= end || slot == returning_.slot) continue;
    discard(slot);
    forget(page, page);
    if (lost_.size() < lost_.capacity()) lost_.push_back(page);
  }
  for (size_t at = 0; at < away_.count; ++at)
    if (const uintptr_t page = away_.page + at * kPageBytes, content = away_.at + at * kPageBytes;
        page >= from && page < end && has_page(content))
      std::memset(reinterpret_cast<void*>(content), 0, kPageBytes);
}

void Traps::tell_lost(Listener& listener) {
  while (!lost_.empty()) {
    const uintptr_t page = lost_.back();
    lost_.pop_back();
    listener.lost(page);
  }
}

// Serving one may put off others.
void Traps::serve_put_off(Listener& listener) {
  for (size_t at = 0; at < put_off_.size(); ++at) {
    const uffd_msg event = put_off_[at];
    serve(event, listener);
  }
  put_off_.clear();
  tell_lost(listener);
}

void Traps::follow(uintptr_t from, uintptr_t to, size_t bytes, Listener& listener) {
  for (uint32_t slot = 0; slot < capacity_; ++slot) {
    const uintptr_t page = pages_[slot];
    if (page < from || page - from >= bytes) continue;
    bring_back(slot, to + (page - from));
    forget(page, to + (page - from));
    listener.lost(page);
  }
}

void Traps::wait(int64_t ns, Listener& listener) {
  serve_put_off(listener);
  const bool rests = std::exchange(bell_rests_, false);
  if (!rests && !bell_is_armed_) arm_bell();  // it fails while another thread forks
  pollfd ready{file_, POLLIN, 0};
  if (rests) ns = std::min(ns, kBellRestNs);
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  call(SYS_ppoll, reinterpret_cast<long>(&ready), 1, reinterpret_cast<long>(&time));
  Events events;
  for (int batch = 0; batch < kMaxBatches; ++batch) {
    const uint32_t count = read_events(file_, events);
    if (count == 0) break;
    adopt(events, count);
    fill_children();
    // Threads that discard pages go on once that is read, and faults are read first. So before the
    // faults, which may bring other pages back.
    for (uint32_t at = 0; at < count; ++at) serve_removal(events[at]);
    for (uint32_t at = 0; at < count; ++at) {
      serve(events[at], listener);
      serve_put_off(listener);
    }
  }
  if (!is_rung_) return;
  is_rung_ = false;
  listener.rung();
  release_bell();
  bell_rests_ = true;
}

}  // namespace halo::traps
