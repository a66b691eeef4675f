// Groups of every kind, and their counts.
#include "fuzz/core_allocator.h"

#include <errno.h>

#include <algorithm>
#include <cstring>

#include "fuzz/finding.h"
#include "runtime/heap/page_layout.h"

namespace halo::fuzz {
namespace {

constexpr uint32_t kMaxObject = 4096;
constexpr size_t kSmallReserve = size_t{64} << 20;
constexpr size_t kAmpleReserve = size_t{16} << 30;
constexpr int kSomeErrno = 1234;

// Both kinds of reuse, with and without each flag.
constexpr plan::Group kKinds[] = {
    {0, plan::Reuse::kNewestFirst, 0},
    {0, plan::Reuse::kWholeChunks, 0},
    {plan::kGroupBySize, plan::Reuse::kNewestFirst, 0},
    {plan::kGroupBySize, plan::Reuse::kWholeChunks, 0},
    {plan::kGroupHugePages, plan::Reuse::kNewestFirst, 0},
    {plan::kGroupHugePages | plan::kGroupBySize, plan::Reuse::kWholeChunks, 0},
    {plan::kGroupBySize | plan::kGroupMasked | 12 << plan::kGroupWayBit, plan::Reuse::kNewestFirst,
     0x0000ffffffff0000},
    {plan::kGroupBySize | plan::kGroupPacked, plan::Reuse::kNewestFirst, 0},
    {plan::kGroupBySize | plan::kGroupMasked | plan::kGroupStepping | 13 << plan::kGroupWayBit,
     plan::Reuse::kNewestFirst, 0x00ff00000000ff01},
};

bool open_once(bool small) {
  static const bool opened = open_core(kKinds, kMaxObject, small ? kSmallReserve : kAmpleReserve);
  return opened;
}

}  // namespace

CoreAllocator::Tally CoreAllocator::tallies_[kGroups]{};

CoreAllocator::CoreAllocator(bool small) {
  static_assert(std::size(kKinds) == kGroups);
  require(open_once(small), "the heaps cannot be opened");
  static bool used_before = false;
  may_refuse_ = small || used_before;
  used_before = true;
}

unsigned CoreAllocator::sites() const { return kGroups; }
size_t CoreAllocator::max_size() const { return kMaxObject; }

void* CoreAllocator::get(unsigned site, size_t size, uint32_t alignment, bool zeroed) {
  errno = kSomeErrno;
  void* p = core_allocate(site, size, alignment, zeroed);
  require(errno == kSomeErrno, "an allocation changed errno");
  if (p == nullptr) return nullptr;
  const size_t bytes = core_size_of(p);
  const char* problem = core_placement_problem(p, bytes);
  require(problem == nullptr, problem);
  const auto offset = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) % runtime::kPageSize);
  if ((kKinds[site].flags & plan::kGroupMasked) != 0)
    require(runtime::StartMask::of(kKinds[site]).permits(offset), "a block starts in another slot");
  tallies_[site].allocations += 1;
  tallies_[site].live_bytes += bytes;
  return p;
}

void* CoreAllocator::reallocate(unsigned site, const Block& block, size_t size) {
  void* p = get(site, size, 0, false);
  if (p == nullptr) return nullptr;
  std::memcpy(p, block.at, std::min(block.requested, size));
  release(0, block);
  return p;
}

void CoreAllocator::release(unsigned, const Block& block) {
  Tally& tally = tallies_[block.site];
  const size_t bytes = core_size_of(block.at);
  require(bytes == block.usable, "a block's size changed");
  if (core_deallocate(block.at)) tally.remote_bytes += bytes;
  tally.live_bytes -= bytes;
}

size_t CoreAllocator::usable_size(const void* p) { return core_size_of(p); }

void CoreAllocator::check(const ShadowModel& model) {
  uint64_t live[kGroups]{};
  for (size_t i = 0; i < model.size(); ++i) {
    live[model[i].site] += model[i].usable;
    const char* problem = core_placement_problem(model[i].at, model[i].usable);
    require(problem == nullptr, problem);
  }
  for (uint32_t group = 0; group < kGroups; ++group) {
    const Tally& tally = tallies_[group];
    const GroupCounts counts = core_counts(group);
    require(tally.live_bytes == live[group], "the fuzzer's own accounts are wrong");
    require(counts.allocations == tally.allocations, "allocations are counted wrong");
    require(counts.live_bytes >= live[group], "live bytes are counted too low");
    require(counts.live_bytes <= live[group] + tally.remote_bytes,
            "live bytes are counted too high");
  }
}

}  // namespace halo::fuzz
