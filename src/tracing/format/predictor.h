// The state that packer and unpacker learn from the events alike: it depends on the events and
// their order only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracing/format/codes.h"
#include "tracing/format/mapped_memory.h"
#include "tracing/format/packing.h"

namespace halo::trace {

// How the events of a site affect the predictions.
enum Behaviour : uint8_t {
  kInMemory = 1,       // word2 is stored at word1
  kYieldsValue = 2,    // word2 may be a pointer that is used next
  kYieldsPointer = 4,  // word1 may be such a pointer
  kYieldsAddress = 8,  // word1 is near an address that is used next
  kOpensFrame = 16,
  kClosesFrame = 32,
};

// The bases that addresses are near to, in the order of the codes from kAddressFromAddress on.
enum Near { kNearAddress, kNearValue, kNearEarlier, kNearFrame, kNears };
static_assert(kAddressFromAddress + unsigned(kNears) == kAddressFromOwn);

// The history of one site. Distances are cut to 32 bits: a wrong one only causes a misprediction.
struct alignas(64) SiteState {
  uint64_t last_address;
  uint64_t last_value;
  int32_t from[kNears];
  int32_t stride;
  int32_t from_own;
  int32_t value_stride;
  int32_t image_step;
  int32_t value_from_address;
  uint8_t address_code;  // the one that was right last time
  uint8_t value_code;
  uint8_t behaviour;
  uint8_t bits;  // of an accessed word, less one
};
static_assert(sizeof(SiteState) == 64);

// The sites that followed the thread's last two: the latest, and the one before it.
struct Followers {
  uint32_t first;
  uint32_t second;

  void saw(uint64_t site) {
    if (first == uint32_t(site)) [[likely]]
      return;
    second = first;
    first = uint32_t(site);
  }
};

struct ThreadState {
  static constexpr uint32_t kFrames = 64;
  uint64_t site;
  uint64_t earlier_site;
  // The last address; the latest value that may be a pointer, and the one before; the innermost
  // frame.
  uint64_t near[kNears];
  uint32_t depth;  // only the innermost kFrames are stored
  uint64_t frames[kFrames];
};

inline uint64_t plus(uint64_t base, int32_t distance) { return base + uint64_t(int64_t{distance}); }
inline int32_t distance(uint64_t to, uint64_t from) { return int32_t(to - from); }

struct Tables {
  static constexpr size_t kThreads = 256;
  static constexpr unsigned kFollowerBits = 14;
  static constexpr unsigned kFollowingBits = 14;
  static constexpr size_t kImageWords = 1 << 22;

  Followers followers[1 << kFollowerBits];
  uint64_t following[1 << kFollowingBits];
  ThreadState threads[kThreads];
  uint64_t no_word;
  uint64_t image[kImageWords];
};

// Pointers to all tables; a copy on the stack lets the compiler keep them in registers.
class Places {
 public:
  // Threads whose numbers collide share a state, which only causes mispredictions.
  ThreadState& thread(uint32_t number) const { return tables_->threads[number % Tables::kThreads]; }
  // Sites without a description share the first entry.
  SiteState& site(uint64_t number) const { return sites_[number < site_count_ ? number : 0]; }
  Followers& followers(const ThreadState& thread) const {
    const uint64_t pair = thread.site * kMix + thread.earlier_site;
    return tables_->followers[(pair * kMix) >> (64 - Tables::kFollowerBits)];
  }
  // The word of the image for `address`. Windows of 32 MiB are mapped with different offsets:
  // regions of a power of two, as allocators make them, would collide otherwise.
  uint64_t& image(uint64_t address) const {
    const uint64_t at = (address >> 3) + (address >> 25) * 0x9e37;
    return tables_->image[at % Tables::kImageWords];
  }
  uint64_t& word_of(const SiteState& site, uint64_t address) const {
    return (site.behaviour & kInMemory) != 0 ? image(address) : tables_->no_word;
  }
  // The address that followed `site.last_address` at this site last time.
  uint64_t& following(uint64_t number, const SiteState& site) const {
    const uint64_t pair = (site.last_address ^ (number << 48)) * kMix;
    return tables_->following[pair >> (64 - Tables::kFollowingBits)];
  }

 protected:
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15;  // odd, without a pattern

  Tables* tables_ = nullptr;
  SiteState* sites_ = nullptr;
  size_t site_count_ = 0;
};

// Owns the tables.
class Predictor : private Places {
 public:
  Predictor();
  bool ok() const { return memory_.ok() && site_memory_.ok(); }
  bool add_sites(std::span<const SiteTraits> sites);
  const Places& places() const { return *this; }

 private:
  MappedMemory memory_;
  MappedMemory site_memory_;
};

// `code`: from kAddressStride on and below kAddressFollowing.
inline uint64_t expected_address(unsigned code, const SiteState& site, const ThreadState& thread) {
  if (code == kAddressStride) return plus(site.last_address, site.stride);
  if (code == kAddressFromOwn) return plus(site.last_value, site.from_own);
  return plus(thread.near[code - kAddressFromAddress], site.from[code - kAddressFromAddress]);
}

inline uint64_t mask_of(const SiteState& site) { return ~uint64_t{0} >> (63 - site.bits); }
inline unsigned shift_of(uint64_t address) { return unsigned(address % 8 * 8); }

// `code`: from kValueImage on and below kValue1. `seen`: the image's value at the address.
inline uint64_t expected_value(unsigned code, const SiteState& site, const ThreadState& thread,
                               uint64_t seen) {
  switch (code) {
    case kValueImage:
      return seen;
    case kValueLast:
      return site.last_value;
    case kValueStride:
      return plus(site.last_value, site.value_stride);
    case kValueImageStep:
      return plus(seen, site.image_step);
    case kValuePrevious:
      return thread.near[kNearValue];
    case kValueEarlier:
      return thread.near[kNearEarlier];
    default:
      return plus(thread.near[kNearAddress], site.value_from_address);
  }
}

// Drops frames further in than a new or a closed one: an exception or longjmp left them.
inline void learn_frame(uint8_t behaviour, ThreadState& thread, uint64_t slot) {
  const auto frame = [&]() -> uint64_t& {
    return thread.frames[thread.depth % ThreadState::kFrames];
  };
  for (uint32_t i = 0; i < ThreadState::kFrames && frame() < slot; ++i) --thread.depth;
  if ((behaviour & kClosesFrame) != 0) {
    --thread.depth;
  } else {
    ++thread.depth;
    frame() = slot;
  }
  thread.near[kNearFrame] = frame();
}

// Whether the site's last event was predicted without written bytes, and this prediction is right
// too. The site's distances are then kept.
inline bool predicts_address(const SiteState& site, const ThreadState& thread, uint64_t address) {
  const unsigned code = site.address_code;
  return code < kAddressFollowing && expected_address(code, site, thread) == address;
}
inline bool predicts_value(const SiteState& site, const ThreadState& thread, uint64_t seen,
                           uint64_t value) {
  const unsigned code = site.value_code;
  return code < kValue1 && expected_value(code, site, thread, seen) == value;
}

inline void learn_address(SiteState& site, const ThreadState& thread, uint64_t address) {
  for (int near = 0; near < kNears; ++near) site.from[near] = distance(address, thread.near[near]);
  site.stride = distance(address, site.last_address);
  site.from_own = distance(address, site.last_value);
}

inline void learn_value(SiteState& site, const ThreadState& thread, uint64_t seen, uint64_t value) {
  site.value_stride = distance(value, site.last_value);
  site.image_step = distance(value, seen);
  site.value_from_address = distance(value, thread.near[kNearAddress]);
}

// Updates the state after each event. `word` is the image's word; `seen` is the part that the event
// covers.
inline void learn_event(SiteState& site, ThreadState& thread, const Logged& event, uint64_t& word,
                        uint64_t seen) {
  const uint64_t address = event.word1, value = event.word2;
  site.last_address = address;
  site.last_value = value;
  if (value != seen) {
    const uint64_t mask = mask_of(site) << shift_of(address);
    word = (word & ~mask) | ((value << shift_of(address)) & mask);
  }
  const uint8_t behaviour = site.behaviour;
  if ((behaviour & kYieldsAddress) != 0) thread.near[kNearAddress] = address;
  if ((behaviour & (kYieldsValue | kYieldsPointer)) != 0) {
    thread.near[kNearEarlier] = thread.near[kNearValue];
    thread.near[kNearValue] = (behaviour & kYieldsValue) != 0 ? value : address;
  }
  if ((behaviour & (kOpensFrame | kClosesFrame)) != 0) learn_frame(behaviour, thread, address);
}

inline void learn_site(Followers& followers, ThreadState& thread, uint64_t site) {
  followers.saw(site);
  thread.earlier_site = thread.site;
  thread.site = site;
}

}  // namespace halo::trace
