#include "studies/pollution/page_frames/frame_stock.h"

#include <sys/mman.h>

#include <algorithm>

#include "studies/pollution/page_frames/memory_left.h"
#include "studies/pollution/traps/page_requests.h"

namespace halo::frames {

using traps::advise;
using traps::call;
using traps::map_bytes;

namespace {

constexpr uint64_t kMinLeft = 2;    // times the size of a range, so that the program has some, too
constexpr size_t kMorePages = 64;   // than are expected to be needed
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

void unmap(uintptr_t at, size_t bytes) {
  if (at != 0) call(SYS_munmap, static_cast<long>(at), static_cast<long>(bytes));
}

// For frames, so in single pages, and not for children.
uintptr_t map_frames(size_t bytes) {
  const uintptr_t at = map_bytes(bytes);
  if (at == 0) return 0;
  advise(at, bytes, MADV_NOHUGEPAGE);
  if (advise(at, bytes, MADV_DONTFORK) == 0) return at;
  unmap(at, bytes);
  return 0;
}

}  // namespace

const char* text_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "";
    case Refusal::kNotColours:
      return "HALO_WATCH_COLOURS is not a range of colours";
    case Refusal::kHidden:
      return "the kernel hides page frames; they need CAP_SYS_ADMIN";
    case Refusal::kNoTraps:
      return "there is no userfaultfd that moves pages";
    case Refusal::kNoMemory:
      return "the kernel refuses memory for page frames";
    case Refusal::kExhausted:
      return "there were no more page frames of these colours";
  }
  return "";
}

Refusal FrameStock::open() {
  const uintptr_t tables = map_bytes(sizeof(Tables));
  at_ = map_frames(kCapacity * kPageBytes);
  if (tables == 0 || at_ == 0) {
    unmap(tables, sizeof(Tables));
    return Refusal::kNoMemory;
  }
  advise(tables, sizeof(Tables), MADV_DONTFORK);
  tables_ = reinterpret_cast<Tables*>(tables);
  return Refusal::kNone;
}

void FrameStock::close() {
  stop_search();
  unmap(at_, kCapacity * kPageBytes);
  unmap(reinterpret_cast<uintptr_t>(tables_), sizeof(Tables));
  at_ = 0;
  tables_ = nullptr;
  begin_ = end_ = 0;
}

void FrameStock::taken(size_t count) {
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

Refusal FrameStock::begin_search(size_t wanted) {
  stop_search();
  if (tables_ == nullptr) return Refusal::kNoMemory;
  if (!numbers_.open()) return Refusal::kHidden;
  advise(first(), count() * kPageBytes, MADV_DONTNEED);
  begin_ = end_ = 0;
  tables_->first.fill(kNoPage);
  search_ = {.is_active = true, .wanted = std::min(wanted, kCapacity)};
  return Refusal::kNone;
}

std::optional<Refusal> FrameStock::search_step() {
  if (search_.block == search_.pages && !map_scratch()) return end_search(Refusal::kNoMemory);
  for (size_t block = 0; block < kStepBlocks && search_.block < search_.pages; ++block) {
    traps_.serve_forks();
    const Refusal refusal = populate_block();
    if (refusal == Refusal::kNone) continue;
    take_sorted();
    return end_search(refusal);
  }
  if (search_.block < search_.pages) return std::nullopt;
  take_sorted();
  if (count() >= search_.wanted) return end_search(Refusal::kNone);
  if (search_.ranges == kMaxScratch) return end_search(Refusal::kExhausted);
  return std::nullopt;
}

void FrameStock::stop_search() {
  if (search_.is_active) end_search(Refusal::kNone);
}

Refusal FrameStock::end_search(Refusal refusal) {
  for (size_t range = 0; range < search_.ranges; ++range)
    unmap(scratch_[range], search_.bytes[range]);
  numbers_.close();
  const bool found = count() >= search_.wanted;
  search_ = {};
  return found ? Refusal::kNone : refusal;
}

// The next range.
bool FrameStock::map_scratch() {
  // Further ones are large: the kernel gives frames first that were returned before.
  const size_t pages = search_.ranges == 0 ? scratch_pages(search_.wanted) : kScratchPages;
  if (memory_left() < kMinLeft * pages * kPageBytes) return false;
  const uintptr_t at = map_frames(pages * kPageBytes);
  if (at == 0) return false;
  scratch_[search_.ranges] = at;
  search_.bytes[search_.ranges++] = pages * kPageBytes;
  search_.pages = pages;
  search_.block = 0;
  return true;
}

// So that enough frames are expected among them.
size_t FrameStock::scratch_pages(size_t wanted) const {
  const size_t pages = wanted * colours_.total / colours_.count() + kMorePages;
  return std::min((pages + kBlockPages - 1) / kBlockPages * kBlockPages, kScratchPages);
}

// Sorts the pages of the next block by colour.
Refusal FrameStock::populate_block() {
  const size_t range = search_.ranges - 1;
  const uintptr_t at = scratch_[range] + search_.block * kPageBytes;
  if (advise(at, kBlockPages * kPageBytes, kPopulateWrite) != 0) return Refusal::kNoMemory;
  populated_ += kBlockPages;
  if (!numbers_.read(at, kBlockPages, tables_->frames.data())) return Refusal::kHidden;
  for (size_t page = kBlockPages; page-- > 0;) {
    const uint64_t frame = tables_->frames[page];
    if (frame == 0) return Refusal::kHidden;
    if (frame == FrameNumbers::kAbsent || !colours_.contains(frame)) continue;
    const auto number = static_cast<uint32_t>(range * kScratchPages + search_.block + page);
    uint32_t& first = tables_->first[colours_.colour_of(frame)];
    tables_->next[number] = first;
    first = number;
  }
  search_.block += kBlockPages;
  return Refusal::kNone;
}

// Interleaved by colour; colours without frames are left out.
void FrameStock::take_sorted() {
  if (!traps_.register_range(at_, kCapacity * kPageBytes)) return;
  for (uint32_t empty = 0; empty < colours_.count() && count() < search_.wanted;) {
    uint32_t& first = tables_->first[colours_.low + turn_ % colours_.count()];
    ++turn_;
    if (first == kNoPage) {
      ++empty;
      continue;
    }
    empty = 0;
    const uint32_t page = first;
    first = tables_->next[page];
    if (traps_.move_pages(at_ + end_ * kPageBytes, address_of(page), 1) == 1) ++end_;
  }
  traps_.unregister_range(at_, kCapacity * kPageBytes);
}

}  // namespace halo::frames
