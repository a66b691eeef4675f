// An object trace in memory, for many replays.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "recorder/objects/visitor.h"

namespace halo::predict {

// An event is a word. Bits 62 and 63 are its kind. Accesses: bit 61 is set for stores, bits 58 to
// 60 are the binary logarithm of the size. An access to an object or its block has the number in
// bits 0 to 31 and the offset, plus kBefore, in bits 32 to 57; another access has the address in
// bits 0 to 47. All other events have the object's number in bits 0 to 31.
//
// The size of an access is rounded down to a power of two, at most 128 bytes.
class StoredEvent {
 public:
  enum class Kind : uint8_t { kObject, kOutside, kAllocate, kFree };
  static constexpr int32_t kBefore = 16;  // bytes of a block before its object
  static constexpr int64_t kMaxOffset = (1 << 26) - 1 - kBefore;

  static constexpr StoredEvent object(uint32_t number, int64_t offset, uint32_t size, bool store) {
    return StoredEvent(number | uint64_t(offset + kBefore) << 32 | access_bits(size, store));
  }
  static constexpr StoredEvent outside(uint64_t address, uint32_t size, bool store) {
    return StoredEvent((address & kAddressMask) | uint64_t(Kind::kOutside) << kKindShift |
                       access_bits(size, store));
  }
  static constexpr StoredEvent of(Kind kind, uint32_t number) {
    return StoredEvent(number | uint64_t(kind) << kKindShift);
  }

  constexpr Kind kind() const { return Kind(word_ >> kKindShift); }
  constexpr uint32_t number() const { return uint32_t(word_); }
  constexpr int32_t offset() const {
    return int32_t(uint32_t(word_ >> 32) & ((1u << 26) - 1)) - kBefore;
  }
  constexpr uint64_t address() const { return word_ & kAddressMask; }
  constexpr uint32_t size() const { return 1u << (word_ >> kSizeShift & 7); }
  constexpr bool store() const { return (word_ >> kStoreShift & 1) != 0; }

 private:
  static constexpr int kSizeShift = 58, kStoreShift = 61, kKindShift = 62;
  static constexpr uint64_t kAddressMask = (1ULL << 48) - 1;

  constexpr explicit StoredEvent(uint64_t word) : word_(word) {}
  static constexpr uint64_t access_bits(uint32_t size, bool store) {
    const auto log = uint64_t(std::bit_width(size) - 1);
    return (log < 7 ? log : 7) << kSizeShift | uint64_t{store} << kStoreShift;
  }

  uint64_t word_;
};
static_assert(sizeof(StoredEvent) == 8);

struct StoredObject {
  uint64_t address;  // as recorded
  uint32_t size;
  uint32_t context;
  uint32_t replaces = 0;  // the object of which realloc made it, or 0
  bool replaced = false;  // realloc made another object of it
  bool aligned = false;   // requested with an alignment: the runtime forwards it
};

// Visits an object trace, and counts its accesses without repeated ones.
class AccessCounter : public objects::Visitor {
 public:
  void access(base::ThreadId, uint64_t, uint32_t, uint32_t, bool) { ++count_; }
  void access_outside(base::ThreadId, uint64_t, uint32_t, bool) { ++count_; }

  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
};

// Memory for which the program requested huge pages, before the event with that index.
struct StoredHugePages {
  size_t before;
  uint64_t address;
  uint64_t bytes;
};

// Visits an object trace. Of each `one_in` stretches of kStretch accesses, the first is kept;
// allocations and frees are all kept.
class StoredTrace : public objects::Visitor {
 public:
  static constexpr uint64_t kStretch = 1 << 16;

  explicit StoredTrace(uint64_t one_in) : one_in_(one_in) {}

  void allocate(const objects::Allocation& one) {
    if (one.number >= objects_.size()) objects_.resize(one.number + 1);
    objects_[one.number] = {one.address, one.size, base::index(one.context)};
    events_.push_back(StoredEvent::of(StoredEvent::Kind::kAllocate, uint32_t(one.number)));
    ++allocations_;
  }
  // An object older than the trace: it has been allocated before, in an unknown order.
  void define(const objects::Allocation& one) { allocate(one); }
  void free(uint64_t number) {
    events_.push_back(StoredEvent::of(StoredEvent::Kind::kFree, uint32_t(number)));
  }
  void revive(uint64_t number) { ++revived_[uint32_t(number)]; }
  void huge_pages(uint64_t address, uint64_t bytes) {
    huge_pages_.push_back({events_.size(), address, bytes});
  }
  void align(uint64_t number) { objects_[number].aligned = true; }
  void reallocate(uint64_t number, uint64_t replaced) {
    objects_[number].replaces = uint32_t(replaced);
    objects_[replaced].replaced = true;
  }
  void access(base::ThreadId, uint64_t number, int64_t offset, uint32_t size, bool store) {
    if (!keeps_next()) return;
    if (offset > StoredEvent::kMaxOffset) throw std::runtime_error("an object is too large");
    events_.push_back(StoredEvent::object(uint32_t(number), offset, size, store));
  }
  void access_block(base::ThreadId thread, uint64_t number, int64_t offset, uint32_t size,
                    bool store) {
    access(thread, number, offset, size, store);
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    if (keeps_next()) events_.push_back(StoredEvent::outside(address, size, store));
  }

  const std::vector<StoredEvent>& events() const { return events_; }
  // By allocation number; the first is unused.
  const std::vector<StoredObject>& objects() const { return objects_; }
  // In order.
  const std::vector<StoredHugePages>& huge_pages() const { return huge_pages_; }
  // By the number of an object: how many of its first frees did not happen.
  const std::unordered_map<uint32_t, uint32_t>& revived() const { return revived_; }
  uint64_t allocations() const { return allocations_; }
  // Accesses in the trace, and those that are kept; without repeated ones.
  uint64_t accesses() const { return seen_; }
  uint64_t kept() const { return kept_; }

 private:
  bool keeps_next() {
    const bool keep = seen_++ / kStretch % one_in_ == 0;
    kept_ += keep;
    return keep;
  }

  const uint64_t one_in_;
  std::vector<StoredEvent> events_;
  std::vector<StoredObject> objects_{1};
  std::vector<StoredHugePages> huge_pages_;
  std::unordered_map<uint32_t, uint32_t> revived_;
  uint64_t allocations_ = 0, seen_ = 0, kept_ = 0;
};

}  // namespace halo::predict
