// Littering: the numbers of objects of each kind, their order, and which of them are freed.
#include "studies/litter/litter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cstring>

#include "base/keep_errno.h"
#include "base/random.h"
#include "studies/litter/clock.h"
#include "studies/litter/distribution.h"
#include "studies/litter/groups.h"
#include "studies/litter/memory_room.h"
#include "studies/litter/pages.h"
#include "studies/litter/size_classes.h"

namespace halo::litter {

namespace {

__extension__ using Wide = unsigned __int128;

// An object to allocate: its kind, and in the highest bit whether it is freed again.
using Slot = uint32_t;
constexpr Slot kIsFreed = Slot{1} << 31;

// Bounds of the overhead per object in most allocators.
constexpr uint64_t kHeaderBytes = 16;

// Exact shares: the number of `amount` items that fall into the part of `whole` from `begin` to
// `end`. Each share is within one of its exact value, and all of them sum to `amount`.
uint64_t share(uint64_t amount, uint64_t begin, uint64_t end, uint64_t whole) {
  const auto before = [&](uint64_t place) {
    return static_cast<uint64_t>((Wide{amount} * place + whole / 2) / whole);
  };
  return before(end) - before(begin);
}

// Writes to the object: pages that were never written are not in memory.
void use(void* object, size_t size) {
  auto* bytes = static_cast<volatile char*>(object);
  for (size_t i = 0; i < size; i += kPageBytes) bytes[i] = 1;
  if (size != 0) bytes[size - 1] = 1;
}

class Littering {
 public:
  // The heap is malloc's if `heap` is null.
  Littering(const halo_litter_settings& settings, const halo_litter_heap* heap,
            halo_litter_report& report)
      : settings_(settings), heap_(heap), report_(report), random_(settings.seed) {}

  halo_litter_outcome run() {
    if (!check()) return HALO_NOT_LITTERED;
    if (settings_.multiplier == 0) return HALO_LITTERED;
    if (!read() || !fits() || !arrange()) return HALO_NOT_LITTERED;
    const uint64_t made = allocate();
    release();
    if (made == report_.objects) return HALO_LITTERED;
    fail("memory was refused after %lu of %lu objects: the heap is littered in part", made,
         report_.objects);
    report_.objects = made;
    return HALO_LITTERED_IN_PART;
  }

 private:
  // Returns false, for use in return statements.
  __attribute__((format(printf, 2, 3))) bool fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report_.problem, sizeof report_.problem, format, arguments);
    va_end(arguments);
    return false;
  }

  bool check() {
    if (!(settings_.occupancy >= 0 && settings_.occupancy <= 1))
      return fail("the occupancy %g is not a number from 0 to 1", settings_.occupancy);
    if (!(settings_.multiplier >= 0 && settings_.multiplier <= 1e6))
      return fail("the multiplier %g is not a number from 0 to 1000000", settings_.multiplier);
    if (heap_ != nullptr && settings_.groups != 0)
      return fail("groups are of the runtime, not of a heap of the program's own");
    return true;
  }

  bool read() {
    if (const char* problem = read_distribution(settings_.data, settings_.groups != 0, recorded_))
      return fail("%s %s", settings_.data, problem);
    if (recorded_.max_live == 0)
      return fail("%s is of a program that allocated nothing: no object can be littered",
                  settings_.data);
    if (settings_.groups != 0 && !check_groups()) return false;
    const double objects = settings_.multiplier * static_cast<double>(recorded_.max_live);
    if (objects >= 1e15) return fail("%.0f objects do not fit in memory", objects);
    report_.objects = static_cast<uint64_t>(objects + 0.5);
    if (report_.objects == 0)
      return fail("%g times %lu objects is less than one: no object can be littered",
                  settings_.multiplier, recorded_.max_live);
    const double kept = settings_.occupancy * static_cast<double>(report_.objects);
    report_.kept = static_cast<uint64_t>(kept + 0.5);
    return true;
  }

  bool check_groups() {
    groups_ = find_groups();
    const uint32_t here = groups_.number();
    if (here == 0) return fail("no plan serves this process, so there are no groups to litter");
    if (here == recorded_.groups) return true;
    return fail("%s has counts of %u groups, the plan has %u: detect again under this plan",
                settings_.data, recorded_.groups, here);
  }

  bool fits() {
    report_.own_bytes =
        report_.objects * sizeof(Slot) + (report_.objects - report_.kept) * sizeof(void*);
    uint64_t seen = 0;
    Wide needed = report_.own_bytes;
    for (const Kind& kind : recorded_.kinds) {
      const uint64_t count = share(report_.objects, seen, seen + kind.count, recorded_.allocations);
      needed += Wide{count} * (kind.size + kHeaderBytes);
      seen += kind.count;
    }
    const uint64_t room = memory_room();
    if (needed <= room) return true;
    return fail("%lu objects need about %lu MiB and %lu MiB are free: lower the multiplier",
                report_.objects, static_cast<uint64_t>(needed >> 20), room >> 20);
  }

  // Fills the slots with each kind's share of all objects and of the freed ones.
  bool arrange() {
    if (!slots_.map(report_.objects) || !gone_.map(report_.objects - report_.kept))
      return fail("there is no memory for the list of %lu objects", report_.objects);
    const uint64_t going = report_.objects - report_.kept;
    // Kept objects from the front, freed ones from the back.
    size_t front = 0, back = report_.objects;
    uint64_t recorded = 0, objects = 0;
    for (size_t i = 0; i < recorded_.kinds.size(); ++i) {
      const Kind& kind = recorded_.kinds[i];
      const uint64_t count =
          share(report_.objects, recorded, recorded + kind.count, recorded_.allocations);
      const uint64_t leaving = share(going, objects, objects + count, report_.objects);
      for (uint64_t n = 0; n < leaving; ++n) slots_[--back] = static_cast<Slot>(i) | kIsFreed;
      for (uint64_t n = leaving; n < count; ++n) slots_[front++] = static_cast<Slot>(i);
      recorded += kind.count;
      objects += count;
    }
    if (settings_.shuffle != 0) {
      random_.shuffle(slots_.begin(), slots_.size());
    } else {
      random_.shuffle(slots_.begin(), report_.kept);
      random_.shuffle(slots_.begin() + report_.kept, going);
    }
    return true;
  }

  // Returns the number of objects allocated before memory ran out.
  uint64_t allocate() {
    size_t leaving = 0;
    uint64_t made = 0, kept = 0;
    for (const Slot slot : slots_) {
      const Kind& kind = recorded_.kinds[slot & ~kIsFreed];
      void* object = take(kind);
      if (object == nullptr) break;
      use(object, kind.size);
      ++made;
      report_.bytes += kind.size;
      if ((slot & kIsFreed) != 0) {
        gone_[leaving++] = object;
      } else {
        ++kept;
        report_.kept_bytes += kind.size;
      }
    }
    slots_.unmap();
    report_.kept = kept;
    leaving_ = leaving;
    return made;
  }

  void* take(const Kind& kind) {
    if (heap_ != nullptr)
      return heap_->allocate(heap_->state, kind.size, random_.below(UINT64_MAX));
    if (kind.group == kNoGroup) return malloc(kind.size);
    void* object = groups_.allocate(kind.group, kind.size);
    if (object == nullptr) return malloc(kind.size);
    ++report_.grouped;
    return object;
  }

  void release() {
    if (settings_.shuffle != 0) random_.shuffle(gone_.begin(), leaving_);
    for (size_t i = leaving_; i > 0; --i) {
      if (heap_ != nullptr)
        heap_->release(heap_->state, gone_[i - 1]);
      else
        free(gone_[i - 1]);
    }
    gone_.unmap();
  }

  const halo_litter_settings& settings_;
  const halo_litter_heap* const heap_;
  halo_litter_report& report_;
  base::Random random_;
  Groups groups_;
  Distribution recorded_;
  Pages<Slot> slots_;
  Pages<void*> gone_;
  size_t leaving_ = 0;
};

}  // namespace

}  // namespace halo::litter

extern "C" halo_litter_outcome halo_litter(const halo_litter_settings* settings,
                                           halo_litter_report* report) {
  return halo_litter_in(settings, nullptr, report);
}

extern "C" halo_litter_outcome halo_litter_in(const halo_litter_settings* settings,
                                              const halo_litter_heap* heap,
                                              halo_litter_report* report) {
  const halo::KeepErrno keep;
  const double start = halo::litter::now();
  memset(report, 0, sizeof *report);
  const halo_litter_outcome outcome = halo::litter::Littering(*settings, heap, *report).run();
  if (outcome == HALO_NOT_LITTERED) report->objects = report->kept = report->own_bytes = 0;
  report->seconds = halo::litter::now() - start;
  return outcome;
}
