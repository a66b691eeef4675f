// Connects the trace with the runtime's heaps.
#include "studies/search/placement.h"

#include <algorithm>

#include "runtime/base/next.h"
#include "runtime/heap/thread_heap.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/grouped.h"
#include "runtime/serve/requests.h"

namespace halo::predict {

namespace {

constexpr uint64_t kArenaBytes = 1ULL << 40;

uint64_t shown(const void* block) {
  return reinterpret_cast<uint64_t>(block) - runtime::arena.base() + layout::kFirstAddress;
}

void* hidden(uint64_t address) {
  return reinterpret_cast<void*>(address - layout::kFirstAddress + runtime::arena.base());
}

}  // namespace

bool Placement::open(const Candidate& candidate) {
  candidate_ = &candidate;
  if (candidate.groups.empty()) return true;
  huge_groups_ = std::ranges::any_of(candidate.groups, [](const plan::Group& group) {
    return (group.flags & plan::kGroupHugePages) != 0;
  });
  runtime::resolve_next();
  runtime::max_object = candidate.max_object;
  runtime::configure_heaps(candidate.groups, candidate.max_object);
  if (!runtime::arena.reserve(kArenaBytes)) return false;
  runtime::prepare_heap();
  return true;
}

uint64_t Placement::allocate(const StoredObject& object) {
  const Verdict verdict = candidate_->verdict(object.context, object.size);
  if (verdict.group == plan::kVerdictForward || object.aligned) return object.address;
  const void* block =
      runtime::allocate_in(runtime::decided_code(verdict.group, verdict.align16), object.size);
  if (block == nullptr) return object.address;
  ++grouped_;
  mixed_ += (candidate_->groups[verdict.group].flags & plan::kGroupBySize) == 0;
  peak_pages_ = std::max(peak_pages_, runtime::arena.pages_used());
  return shown(block);
}

uint64_t Placement::reallocate(uint64_t old, const StoredObject& object) {
  void* const block = hidden(old);
  if (!runtime::arena.contains(block)) return allocate(object);
  const auto alignment = [&] {
    const Verdict verdict = candidate_->verdict(object.context, object.size);
    return verdict.group != plan::kVerdictForward && verdict.align16 ? 16 : 0;
  };
  if (runtime::stays_in_place(block, runtime::usable_size_grouped(block), object.size, alignment))
    return old;
  const uint64_t moved = allocate(object);
  free(old);
  return moved;
}

void Placement::free(uint64_t address) {
  if (runtime::arena.contains(hidden(address))) runtime::free_grouped(hidden(address));
}

bool Placement::is_huge(uint64_t address) {
  void* const block = hidden(address);
  return runtime::arena.contains(block) &&
         runtime::arena.kind_of(block) == runtime::PageKind::kHuge;
}

}  // namespace halo::predict
