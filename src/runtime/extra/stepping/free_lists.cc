#include "runtime/extra/stepping/free_lists.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/keep_errno.h"
#include "runtime/heap/metadata.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {

// A stale entry may be of a page that belongs to another heap now. The owner is read first: no
// other heap gives a page to this one, or takes one from it.
bool FreeLists::is_free(const char* block, size_t size) {
  Page& page = arena.page_of(block);
  if (page.thread.load(std::memory_order_relaxed) != kSteppingOwner) return false;
  if (!PageBits(page).is_free(block)) return false;
  return static_cast<size_t>(Starts(page).next_after(block) - block) == size * kGranule;
}

// The first list from `size` on that may have entries; `kSizes` or more if none has.
size_t FreeLists::used_from(size_t size) const {
  if (size >= kSizes) return kSizes;
  size_t word = size / 64;
  uint64_t bits = used_[word] & (~uint64_t{0} << (size % 64));
  while (bits == 0) {
    if (++word == std::size(used_)) return kSizes;
    bits = used_[word];
  }
  return word * 64 + static_cast<size_t>(std::countr_zero(bits));
}

void FreeLists::push(char* block, uint32_t bytes) {
  Entry* entry = spare();
  if (entry == nullptr) return;
  const size_t size = bytes / kGranule;
  *entry = {block, newest_[size]};
  newest_[size] = entry;
  used_[size / 64] |= uint64_t{1} << (size % 64);
}

void FreeLists::remove(Entry** link) {
  Entry* entry = *link;
  *link = entry->next;
  entry->next = spare_;
  spare_ = entry;
}

// An unused entry; nullptr if memory is refused.
FreeLists::Entry* FreeLists::spare() {
  if (spare_ == nullptr && sweep() * 2 >= entries_) grow();
  Entry* entry = spare_;
  if (entry != nullptr) spare_ = entry->next;
  return entry;
}

// Removes the stale entries, and all but the newest of a block. Returns the number of those left.
// While a list is swept, the blocks of the entries that stay are not in the free bitmap.
size_t FreeLists::sweep() {
  size_t left = 0;
  for (size_t size = used_from(0); size < kSizes; size = used_from(size + 1)) {
    for (Entry** link = &newest_[size]; *link != nullptr;) {
      char* const block = (*link)->block;
      if (!is_free(block, size)) {
        remove(link);
        continue;
      }
      PageBits(arena.page_of(block)).remove_free(block);
      link = &(*link)->next;
      ++left;
    }
    for (Entry* entry = newest_[size]; entry != nullptr; entry = entry->next)
      PageBits(arena.page_of(entry->block)).add_free(entry->block);
  }
  return left;
}

// Doubles the number of entries.
void FreeLists::grow() {
  constexpr size_t kFirst = 64 * 1024 / sizeof(Entry);
  const KeepErrno keep;
  const size_t more = std::max(entries_, kFirst);
  auto* made = static_cast<Entry*>(map_metadata(more * sizeof(Entry)));
  if (made == nullptr) return;
  for (size_t i = 0; i + 1 < more; ++i) made[i].next = &made[i + 1];
  made[more - 1].next = spare_;
  spare_ = made;
  entries_ += more;
}

}  // namespace halo::runtime
