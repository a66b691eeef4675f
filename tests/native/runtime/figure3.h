// The allocator of Yardımcı and Kaeli, figure 3, as slow and obvious as possible: a list of blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/heap/page_layout.h"

namespace halo::runtime {

// Pages have numbers in the order in which they were opened.
class Figure3 {
 public:
  struct Place {
    size_t page;
    uint32_t offset;
    bool operator==(const Place&) const = default;
  };

  // Nothing if no page has a permitted start with room behind it.
  std::optional<Place> allocate(const StartMask& mask, uint32_t bytes) {
    if (first_permitted(mask, 0, bytes) + bytes > kPageSize) return {};
    std::vector<Block> candidates;
    for (const Block& it : blocks_)
      if (it.is_free && it.bytes >= bytes) candidates.push_back(it);
    std::sort(candidates.begin(), candidates.end(), [](const Block& a, const Block& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.freed_at > b.freed_at;
    });
    if (candidates.size() > 64) candidates.resize(64);
    for (const Block& it : candidates)
      if (first_permitted(mask, it.place.offset, bytes) == it.place.offset)
        return take(it.place, bytes);
    return step(mask, bytes);
  }

  void free(Place place) {
    Block& it = at(place);
    it.is_free = true;
    it.freed_at = ++now_;
    const bool in_use = std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& other) {
      return other.place.page == place.page && !other.is_free;
    });
    if (!in_use && place.page != page_) return drop(place.page);
    const Place behind{place.page, place.offset + it.bytes};
    if (Block* next = find(behind); next != nullptr && next->is_free) {
      it.bytes += next->bytes;
      blocks_.erase(blocks_.begin() + (next - blocks_.data()));
    }
  }

  uint64_t skipped() const { return skipped_; }
  size_t blocks() const { return blocks_.size(); }

 private:
  struct Block {
    Place place;
    uint32_t bytes;
    bool is_free;
    uint64_t freed_at;
  };

  // Slot by slot, after the first one; blocks of a multiple of 16 bytes are aligned to 16.
  static uint32_t first_permitted(const StartMask& mask, uint32_t offset, uint32_t bytes) {
    while (bytes % 16 == 0 && offset % 16 != 0) ++offset;
    while ((mask.slots >> (offset / mask.slot_bytes() % 64) & 1) == 0)
      offset = (offset / mask.slot_bytes() + 1) * mask.slot_bytes();
    return offset;
  }

  Block* find(Place place) {
    for (Block& it : blocks_)
      if (it.place == place) return &it;
    return nullptr;
  }
  Block& at(Place place) { return *find(place); }

  Place take(Place place, uint32_t bytes) {
    Block& it = at(place);
    const uint32_t rest = it.bytes - bytes;
    it.is_free = false;
    it.bytes = bytes;
    if (rest != 0) add_free({place.page, place.offset + bytes}, rest);
    return place;
  }

  Place step(const StartMask& mask, uint32_t bytes) {
    if (!opened_ || first_permitted(mask, next_, bytes) + bytes > kPageSize) open_page();
    const uint32_t start = first_permitted(mask, next_, bytes), buffer = next_;
    next_ = start + bytes;
    if (start != buffer) add_free({page_, buffer}, start - buffer);
    skipped_ += start - buffer;
    blocks_.push_back({{page_, start}, bytes, false, 0});
    return {page_, start};
  }

  // The rest of the page before becomes free, unless no block of that page is in use.
  void open_page() {
    if (opened_) {
      bool in_use = false;
      for (const Block& it : blocks_) in_use |= it.place.page == page_ && !it.is_free;
      if (!in_use)
        drop(page_);
      else if (next_ != kPageSize)
        add_free({page_, next_}, static_cast<uint32_t>(kPageSize) - next_);
      ++page_;
    }
    opened_ = true;
    next_ = 0;
  }

  void drop(size_t page) {
    std::erase_if(blocks_, [&](const Block& it) { return it.place.page == page; });
  }
  void add_free(Place place, uint32_t bytes) { blocks_.push_back({place, bytes, true, ++now_}); }

  std::vector<Block> blocks_;
  bool opened_ = false;
  size_t page_ = 0;
  uint32_t next_ = 0;
  uint64_t skipped_ = 0, now_ = 0;
};

}  // namespace halo::runtime
