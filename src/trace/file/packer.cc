// Packs events: the codes of what was predicted rightly, and the bytes of what was not.
#include <zstd_errors.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "trace/file/packing.h"
#include "trace/file/predictor.h"

namespace halo::trace::file {
namespace {

constexpr int kLevel = 1;
constexpr size_t kAhead = 8;  // events, whose memory is asked for before it is needed

size_t most_bytes(int stream) { return kMostBytes[stream] * Packer::kMostEvents; }

size_t most_packed() {
  size_t sum = sizeof(BlockHead);
  for (int stream = 0; stream < kStreams; ++stream) sum += ZSTD_compressBound(most_bytes(stream));
  return sum;
}

uint64_t zigzag(uint64_t difference) {
  return (difference << 1) ^ uint64_t(int64_t(difference) >> 63);
}

std::byte* put_varint(std::byte* at, uint64_t number) {
  for (; number >= 128; number >>= 7) *at++ = std::byte(number | 128);
  *at++ = std::byte(number);
  return at;
}

// How many low bits of `right` come before the first that is set; the code of the first candidate.
template <size_t N>
unsigned matches(const uint64_t (&candidates)[N], uint64_t wanted) {
  unsigned right = 0;
  for (unsigned code = 1; code < N; ++code) right |= unsigned(candidates[code] == wanted) << code;
  return right;
}

unsigned choose(unsigned right, uint8_t again) {
  return (right >> again & 1) != 0 ? again : unsigned(__builtin_ctz(right));
}

unsigned literal_code(uint64_t value, uint64_t last) {
  if (value < 1 << 8) return kValue1;
  if (value < 1 << 16) return kValue2;
  if (value >> 32 == 0) return kValue4;
  return value >> 32 == last >> 32 ? kValueLow4 : kValue8;
}

}  // namespace

class Packer::State {
 public:
  explicit State(MappedMemory&& self) : self_(std::move(self)), work_(work_bytes()) {
    if (!work_.ok()) return;
    std::byte* at = work_.as<std::byte>();
    for (int stream = 0; stream < kStreams; ++stream) {
      begin_[stream] = at;
      at += most_bytes(stream);
    }
    packed_ = at;
    at += (most_packed() + 63) / 64 * 64;
    zstd_ = ZSTD_initStaticCCtx(at, ZSTD_estimateCCtxSize(kLevel));
  }
  bool ok() const { return predictor.ok() && zstd_ != nullptr; }
  MappedMemory&& self() { return std::move(self_); }

  std::span<const std::byte> pack(uint32_t number, std::span<const Logged> events) {
    ThreadState& thread = predictor.thread(number);
    std::copy_n(begin_, int(kStreams), end_);
    for (size_t at = 0; at < events.size(); ++at) {
      prefetch(events[std::min(at + kAhead, events.size() - 1)]);
      put(events[at], thread);
    }
    return compress(events.size());
  }

  Predictor predictor;

 private:
  static size_t work_bytes() {
    size_t sum = most_packed() + 64 + ZSTD_estimateCCtxSize(kLevel);
    for (int stream = 0; stream < kStreams; ++stream) sum += most_bytes(stream);
    return sum;
  }

  void prefetch(const Logged& event) {
    __builtin_prefetch(&predictor.site(event.site), 1);
    __builtin_prefetch(&predictor.image(event.word1), 1);
  }

  void put(const Logged& event, ThreadState& thread) {
    const unsigned second = put_site(event.site, thread);
    SiteState& site = predictor.site(event.site);
    const unsigned address = put_address(event, site, thread);
    uint64_t& word = predictor.word_of(site, event.word1);
    const uint64_t seen = word >> shift_of(event.word1) & mask_of(site);
    const unsigned value = put_value(event.word2, seen, site, thread);
    learn(site, thread, event, word, seen);
    *end_[kCodeStream]++ = std::byte((second * kAddressCodes + address) * kValueCodes + value);
  }

  unsigned put_site(uint64_t site, ThreadState& thread) {
    Followers& followers = predictor.followers(thread);
    const Followers expected = followers;
    learn_site(followers, thread, site);
    if (expected.first == site) return 0;
    if (expected.second == site) return 1;
    *end_[kCodeStream]++ = std::byte(kSiteLiteral);
    end_[kSiteStream] = put_varint(end_[kSiteStream], site);
    return 0;
  }

  unsigned put_address(const Logged& event, SiteState& site, ThreadState& thread) {
    uint64_t expected[kAddressFollowing];
    expect_address(site, thread, expected);
    const unsigned right = matches(expected, event.word1);
    const uint8_t before = site.address_code;
    unsigned code = kAddressLiteral;
    if (right != 0) {
      code = choose(right, before);
    } else {
      uint64_t& following = predictor.following(event.site, site);
      if (following == event.word1) {
        code = kAddressFollowing;
      } else {
        end_[kAddressStream] =
            put_varint(end_[kAddressStream], zigzag(event.word1 - site.last_address));
        following = event.word1;
      }
    }
    site.address_code = uint8_t(code);
    return code == before ? unsigned(kAddressAgain) : code;
  }

  unsigned put_value(uint64_t value, uint64_t seen, SiteState& site, const ThreadState& thread) {
    uint64_t expected[kValue1];
    expect_value(site, thread, seen, expected);
    const unsigned right = matches(expected, value);
    const uint8_t before = site.value_code;
    unsigned code;
    if (right != 0) {
      code = choose(right, before);
    } else {
      code = literal_code(value, site.last_value);
      std::memcpy(end_[kValueStream], &value, sizeof value);
      end_[kValueStream] += kLiteralBytes[code];
    }
    site.value_code = uint8_t(code);
    return code == before ? unsigned(kValueAgain) : code;
  }

  std::span<const std::byte> compress(size_t events) {
    BlockHead head{.events = uint32_t(events), .streams = {}};
    std::byte* to = packed_ + sizeof head;
    for (int stream = 0; stream < kStreams; ++stream) {
      const size_t bytes = size_t(end_[stream] - begin_[stream]);
      const size_t packed = compress_stream(to, begin_[stream], bytes);
      head.streams[stream] = {.bytes = uint32_t(bytes), .packed = uint32_t(packed)};
      to += packed;
    }
    std::memcpy(packed_, &head, sizeof head);
    return {packed_, to};
  }

  size_t compress_stream(std::byte* to, const std::byte* from, size_t bytes) {
    const size_t packed =
        ZSTD_compressCCtx(zstd_, to, ZSTD_compressBound(bytes), from, bytes, kLevel);
    if (!ZSTD_isError(packed) && packed < bytes) return packed;
    std::memcpy(to, from, bytes);
    return bytes;
  }

  MappedMemory self_;
  MappedMemory work_;
  ZSTD_CCtx* zstd_ = nullptr;
  std::byte* begin_[kStreams] = {};
  std::byte* end_[kStreams] = {};
  std::byte* packed_ = nullptr;
};

Packer::Packer() {
  MappedMemory memory(sizeof(State));
  if (!memory.ok()) return;
  void* at = memory.as<void>();
  state_ = new (at) State(std::move(memory));
}

Packer::~Packer() {
  if (state_ == nullptr) return;
  const MappedMemory memory = state_->self();
  state_->~State();
}

bool Packer::ok() const { return state_ != nullptr && state_->ok(); }

bool Packer::add_sites(std::span<const SiteTraits> sites) {
  return state_->predictor.add_sites(sites);
}

std::span<const std::byte> Packer::pack(uint32_t thread, std::span<const Logged> events) {
  return state_->pack(thread, events);
}

}  // namespace halo::trace::file
