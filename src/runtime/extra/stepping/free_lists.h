// The free blocks of the stepping heap, by size and newest first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/pages/page.h"

namespace halo::runtime {

// The lists are outside the blocks, so a write to freed memory cannot corrupt them.
//
// Invariant: each free block is in the list of its size at least once. A list may also have stale
// entries, of blocks that are not free with that size any more: a caller that takes, enlarges or
// drops a free block only changes the bitmaps. `take` and `sweep` remove stale entries. Only the
// holder of the heap's lock uses the lists.
class FreeLists {
 public:
  // Adds a free block. If memory for the entry is refused, the block is never served again.
  void push(char* block, uint32_t bytes);

  // Returns a free block of at least `bytes`, and removes its entry; nullptr if none of the first
  // 64 is permitted. The smallest blocks come first, and of one size the newest.
  template <typename Permits>
  char* take(uint32_t bytes, Permits permits) {
    int left = kMaxScanned;
    for (size_t size = used_from(bytes / kGranule); size < kSizes; size = used_from(size + 1)) {
      Entry** link = &newest_[size];
      while (Entry* entry = *link) {
        char* const block = entry->block;
        if (!is_free(block, size)) {
          remove(link);
          continue;
        }
        if (left-- == 0) return nullptr;
        if (permits(block)) {
          remove(link);
          return block;
        }
        link = &entry->next;
      }
      if (newest_[size] == nullptr) used_[size / 64] &= ~(uint64_t{1} << (size % 64));
    }
    return nullptr;
  }

 private:
  struct Entry {
    char* block;
    Entry* next;
  };

  static constexpr int kMaxScanned = 64;
  static constexpr size_t kSizes = plan::kMaxObjectLimit / kGranule + 1;

  // Whether `block` is free and has `size` granules.
  static bool is_free(const char* block, size_t size);
  size_t used_from(size_t size) const;
  void remove(Entry** link);
  Entry* spare();
  size_t sweep();
  void grow();

  Entry* newest_[kSizes]{};           // by granules
  uint64_t used_[kSizes / 64 + 1]{};  // a bit for each list that may have entries
  Entry* spare_ = nullptr;
  size_t entries_ = 0;  // in lists or spare
};

}  // namespace halo::runtime
