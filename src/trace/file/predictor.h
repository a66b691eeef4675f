// What packer and unpacker learn from the events, alike: only the events and their order decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/file/codes.h"
#include "trace/file/mapped_memory.h"
#include "trace/file/packing.h"

namespace halo::trace::file {

// What the events of a site mean to the predictions.
enum Behaviour : uint8_t {
  kInMemory = 1,      // word2 lies at word1
  kGivesValue = 2,    // word2 may be a pointer that is used next
  kGivesPointer = 4,  // word1 may be
  kGivesAddress = 8,  // word1 is near to what is used next
  kOpensFrame = 16,
  kClosesFrame = 32,
};

// What has been seen at one site. Distances are cut to 32 bits: a wrong one only predicts badly.
struct alignas(64) SiteState {
  uint64_t last_address;
  uint64_t last_value;
  int32_t stride;
  int32_t from_address;
  int32_t from_value;
  int32_t from_earlier;
  int32_t from_frame;
  int32_t value_stride;
  int32_t image_step;
  int32_t value_from_address;
  uint8_t address_code;  // which was right the last time
  uint8_t value_code;
  uint8_t behaviour;
  uint8_t bits;  // of a word that it accesses, less one
};
static_assert(sizeof(SiteState) == 64);

// The sites that have come after the last two of a thread: the latest, and the latest but it.
struct Followers {
  uint32_t first;
  uint32_t second;

  void saw(uint64_t site) {
    if (first == uint32_t(site)) return;
    second = first;
    first = uint32_t(site);
  }
};

struct ThreadState {
  static constexpr uint32_t kFrames = 64;
  uint64_t site;
  uint64_t earlier_site;
  uint64_t address;  // of the access before
  uint64_t value;    // the latest pointer-like one
  uint64_t earlier_value;
  uint32_t depth;  // only the innermost kFrames are kept
  uint64_t frames[kFrames];

  uint64_t& frame() { return frames[depth % kFrames]; }
};

inline uint64_t plus(uint64_t base, int32_t distance) { return base + uint64_t(int64_t{distance}); }
inline int32_t distance(uint64_t to, uint64_t from) { return int32_t(to - from); }

class Predictor {
 public:
  Predictor();
  bool ok() const { return memory_.ok() && sites_.ok(); }
  bool add_sites(std::span<const SiteTraits> sites);

  // Threads whose numbers collide share a state, which only predicts badly.
  ThreadState& thread(uint32_t number) { return tables().threads[number % kThreads]; }
  // Sites that nobody has described share the first one.
  SiteState& site(uint64_t number) {
    return sites_.as<SiteState>()[number < site_count_ ? number : 0];
  }
  Followers& followers(const ThreadState& thread) {
    const uint64_t pair = thread.site * kMix + thread.earlier_site;
    return tables().followers[(pair * kMix) >> (64 - kFollowerBits)];
  }
  // The word that holds `address`. Windows of 32 MiB do not lie exactly over each other, since
  // regions of a power of two, as allocators make them, would.
  uint64_t& image(uint64_t address) {
    const uint64_t at = (address >> 3) + (address >> 25) * 0x9e37;
    return tables().image[at % kImageWords];
  }
  uint64_t& word_of(const SiteState& site, uint64_t address) {
    return (site.behaviour & kInMemory) != 0 ? image(address) : tables().no_word;
  }
  // The address that came at this site after `site.last_address` the last time.
  uint64_t& following(uint64_t number, const SiteState& site) {
    const uint64_t pair = (site.last_address ^ (number << 48)) * kMix;
    return tables().following[pair >> (64 - kFollowingBits)];
  }

 private:
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15;  // odd, without a pattern
  static constexpr size_t kThreads = 256;
  static constexpr unsigned kFollowerBits = 14;
  static constexpr unsigned kFollowingBits = 17;
  static constexpr size_t kImageWords = 1 << 22;

  struct Tables {
    Followers followers[1 << kFollowerBits];
    uint64_t following[1 << kFollowingBits];
    ThreadState threads[kThreads];
    uint64_t no_word;
    uint64_t image[kImageWords];
  };
  Tables& tables() { return *memory_.as<Tables>(); }

  MappedMemory memory_;
  MappedMemory sites_;
  size_t site_count_ = 0;
};

inline void expect_address(const SiteState& site, ThreadState& thread, uint64_t* address) {
  address[kAddressStride] = plus(site.last_address, site.stride);
  address[kAddressFromAddress] = plus(thread.address, site.from_address);
  address[kAddressFromValue] = plus(thread.value, site.from_value);
  address[kAddressFromEarlier] = plus(thread.earlier_value, site.from_earlier);
  address[kAddressFromFrame] = plus(thread.frame(), site.from_frame);
}

inline uint64_t mask_of(const SiteState& site) { return ~uint64_t{0} >> (63 - site.bits); }
inline unsigned shift_of(uint64_t address) { return unsigned(address % 8 * 8); }

inline void expect_value(const SiteState& site, const ThreadState& thread, uint64_t seen,
                         uint64_t* value) {
  value[kValueImage] = seen;
  value[kValueLast] = site.last_value;
  value[kValueStride] = plus(site.last_value, site.value_stride);
  value[kValueImageStep] = plus(seen, site.image_step);
  value[kValuePrevious] = thread.value;
  value[kValueEarlier] = thread.earlier_value;
  value[kValueFromAddress] = plus(thread.address, site.value_from_address);
}

// Frames further in than a new or a closed one are gone: an exception or longjmp left them.
inline void leave_frames(ThreadState& thread, uint64_t slot) {
  for (uint32_t i = 0; i < ThreadState::kFrames && thread.frame() < slot; ++i) --thread.depth;
}

inline void learn_frame(const SiteState& site, ThreadState& thread, uint64_t slot) {
  leave_frames(thread, slot);
  if ((site.behaviour & kClosesFrame) != 0) {
    --thread.depth;
  } else {
    ++thread.depth;
    thread.frame() = slot;
  }
}

// `word` is the image's word, of which the event covers what `seen` was.
inline void learn(SiteState& site, ThreadState& thread, const Logged& event, uint64_t& word,
                  uint64_t seen) {
  const uint64_t address = event.word1, value = event.word2;
  site.stride = distance(address, site.last_address);
  site.from_address = distance(address, thread.address);
  site.from_value = distance(address, thread.value);
  site.from_earlier = distance(address, thread.earlier_value);
  site.from_frame = distance(address, thread.frame());
  site.value_stride = distance(value, site.last_value);
  site.image_step = distance(value, seen);
  site.value_from_address = distance(value, thread.address);
  site.last_address = address;
  site.last_value = value;
  const uint64_t mask = mask_of(site) << shift_of(address);
  word = (word & ~mask) | ((value << shift_of(address)) & mask);
  const uint8_t behaviour = site.behaviour;
  if ((behaviour & kGivesAddress) != 0) thread.address = address;
  if ((behaviour & (kGivesValue | kGivesPointer)) != 0) {
    thread.earlier_value = thread.value;
    thread.value = (behaviour & kGivesValue) != 0 ? value : address;
  }
  if ((behaviour & (kOpensFrame | kClosesFrame)) != 0) learn_frame(site, thread, address);
}

inline void learn_site(Followers& followers, ThreadState& thread, uint64_t site) {
  followers.saw(site);
  thread.earlier_site = thread.site;
  thread.site = site;
}

}  // namespace halo::trace::file
