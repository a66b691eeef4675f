#include "studies/pollution/page_frames/broker.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "studies/pollution/traps/page_requests.h"

namespace halo::frames {

using traps::advise;
using traps::call;
using traps::map_bytes;

Refusal probe_frames() {
  FrameNumbers numbers;
  const uintptr_t page = map_bytes(kPageBytes);
  if (page == 0) return Refusal::kNoMemory;
  *reinterpret_cast<volatile char*>(page) = 1;
  uint64_t frame = 0;
  const bool shown = numbers.open() && numbers.read(page, 1, &frame) && frame != 0;
  call(SYS_munmap, static_cast<long>(page), kPageBytes);
  return shown ? Refusal::kNone : Refusal::kHidden;
}

Refusal Broker::open() {
  staging_ = map_bytes(kBatch * kPageBytes);
  if (staging_ == 0 || advise(staging_, kBatch * kPageBytes, MADV_DONTFORK) != 0)
    return Refusal::kNoMemory;
  advise(staging_, kBatch * kPageBytes, MADV_NOHUGEPAGE);
  return stock_.open();
}

void Broker::close() {
  stock_.close();
  if (staging_ != 0) call(SYS_munmap, static_cast<long>(staging_), kBatch * kPageBytes);
  staging_ = 0;
}

Refusal Broker::prepare(size_t pages) {
  if (stock_.count() >= std::min(pages, FrameStock::kCapacity)) return Refusal::kNone;
  const Refusal refusal = stock_.begin_search(pages);
  if (refusal != Refusal::kNone) return refusal;
  for (;;)
    if (const std::optional<Refusal> found = stock_.search_step()) return *found;
}

Coloured Broker::colour(uintptr_t begin, uintptr_t end, bool fills) {
  Job job = {.at = begin, .end = end, .fills = fills};
  while (!step(job)) continue;
  return job.result;
}

bool Broker::step(Job& job) {
  if (stock_.is_searching()) {
    const std::optional<Refusal> found = stock_.search_step();
    if (found && stock_.count() == 0) give_up(job, *found);
    return job.at >= job.end;
  }
  if (job.at >= job.end) return true;
  const size_t left = (job.end - job.at) / kPageBytes;
  const size_t count = std::min(left, kBatch);
  const bool opened = numbers_.open();
  const size_t changed = opened ? pages_to_change(job.at, count, job.fills) : 0;
  if (!opened) {
    give_up(job, Refusal::kHidden);
  } else if (changed != 0 && stock_.count() == 0) {
    const Refusal refusal = job.searches ? stock_.begin_search(left + kSpare) : Refusal::kExhausted;
    if (refusal != Refusal::kNone) give_up(job, refusal);
  } else if (changed != 0) {
    job.at += colour_batch(job, count) * kPageBytes;
  } else {
    job.result.kept += count_right(count);
    job.at += count * kPageBytes;
  }
  numbers_.close();
  return job.at >= job.end;
}

void Broker::fail(Job& job, uintptr_t page, size_t count) {
  job.result.failed += count;
  if (job.failed_at == 0) job.failed_at = page;
}

void Broker::give_up(Job& job, Refusal refusal) {
  fail(job, job.at, (job.end - job.at) / kPageBytes);
  job.result.refusal = refusal;
  job.at = job.end;
}

Broker::Kind Broker::kind_of(uint64_t frame) const {
  if (frame == FrameNumbers::kAbsent) return Kind::kAbsent;
  return colours_.contains(frame) ? Kind::kRight : Kind::kOther;
}

// Of the pages whose frames were read last.
size_t Broker::count_right(size_t count) const {
  return static_cast<size_t>(
      std::count_if(frames_.begin(), frames_.begin() + static_cast<long>(count),
                    [&](uint64_t frame) { return kind_of(frame) == Kind::kRight; }));
}

size_t Broker::pages_to_change(uintptr_t page, size_t count, bool fills) {
  for (size_t at = 0; at < count; ++at) traps_.disarm(page + at * kPageBytes);
  if (!numbers_.read(page, count, frames_.data())) return count;
  return static_cast<size_t>(std::count_if(
      frames_.begin(), frames_.begin() + static_cast<long>(count), [&](uint64_t frame) {
        const Kind kind = kind_of(frame);
        return kind == Kind::kOther || (kind == Kind::kAbsent && fills);
      }));
}

// Returns how many pages were dealt with: all, or until the stock was empty. Frames are read again:
// from now on no thread maps pages.
size_t Broker::colour_batch(Job& job, size_t count) {
  const uintptr_t page = job.at;
  Coloured& result = job.result;
  if (!traps_.register_range(page, count * kPageBytes) ||
      !numbers_.read(page, count, frames_.data())) {
    fail(job, page, count);
    traps_.unregister_range(page, count * kPageBytes);
    return count;
  }
  size_t at = 0;
  while (at < count) {
    const Kind kind = kind_of(frames_[at]);
    size_t run = 1;
    while (at + run < count && kind_of(frames_[at + run]) == kind) ++run;
    const bool changes = kind == Kind::kOther || (kind == Kind::kAbsent && job.fills);
    if (!changes) {
      if (kind == Kind::kRight) result.kept += run;
      at += run;
      continue;
    }
    if (stock_.count() == 0) break;
    run = std::min(run, stock_.count());
    const uintptr_t first = page + at * kPageBytes;
    const size_t done =
        kind == Kind::kAbsent ? traps_.move_pages(first, stock_.first(), run) : replace(first, run);
    stock_.taken(done);
    (kind == Kind::kAbsent ? result.filled : result.replaced) += done;
    if (done < run) fail(job, first + done * kPageBytes, 1);
    at += std::min(run, done + 1);  // a page that cannot be moved stays as it is
  }
  traps_.unregister_range(page, count * kPageBytes);
  return at;
}

size_t Broker::replace(uintptr_t page, size_t count) {
  if (!traps_.register_range(staging_, kBatch * kPageBytes)) return 0;
  const size_t done = traps_.replace_frames(page, staging_, stock_.first(), count);
  traps_.unregister_range(staging_, kBatch * kPageBytes);
  advise(staging_, kBatch * kPageBytes, traps::kDiscardLocked);
  // The rest of the stock may have content now.
  if (done < count)
    std::memset(reinterpret_cast<void*>(stock_.first() + done * kPageBytes), 0,
                (count - done) * kPageBytes);
  return done;
}

}  // namespace halo::frames
