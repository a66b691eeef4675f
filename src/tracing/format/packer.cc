// Packs events: the codes of correct predictions, and the bytes of the others.
#include <zstd_errors.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tracing/format/packing.h"
#include "tracing/format/predictor.h"

namespace halo::trace {
namespace {

constexpr int kBlockLevel = -10;  // a fifth larger output than -3, and faster
constexpr size_t kAhead = 24;     // events; distance of the prefetch

size_t max_bytes(int stream) { return kMaxBytes[stream] * Packer::kMaxEvents; }

size_t max_packed() {
  size_t sum = sizeof(BlockHead);
  for (int stream = 0; stream < kStreams; ++stream) sum += ZSTD_compressBound(max_bytes(stream));
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

unsigned literal_code(uint64_t value, uint64_t last) {
  if (value < 1 << 8) return kValue1;
  if (value < 1 << 16) return kValue2;
  if (value >> 32 == 0) return kValue4;
  return value >> 32 == last >> 32 ? kValueLow4 : kValue8;
}

struct Output {
  std::byte* end[kStreams];
  size_t zeros;  // pending zero codes

  void code(unsigned byte) {
    if (byte == 0) {
      ++zeros;
      return;
    }
    for (; zeros >= kFullRun; zeros -= kFullRun) *end[kCodeStream]++ = std::byte(kFullRun);
    *end[kCodeStream]++ = std::byte(zeros);
    *end[kCodeStream]++ = std::byte(byte);
    zeros = 0;
  }
  void varint(Stream stream, uint64_t number) { end[stream] = put_varint(end[stream], number); }
  void value(uint64_t word, unsigned bytes) {
    std::memcpy(end[kValueStream], &word, sizeof word);
    end[kValueStream] += bytes;
  }
};

// Iterates over the events of a block. It copies the state that changes with each event, so that
// the compiler can keep it in registers.
class Walk {
 public:
  Walk(const Places& places, uint32_t thread, std::byte* const (&streams)[kStreams])
      : places_(places), home_(places.thread(thread)), thread_(home_) {
    std::copy_n(streams, int(kStreams), out_.end);
  }

  const Output& finish() {
    home_ = thread_;
    return out_;
  }

  void prefetch(const Logged& event) const { __builtin_prefetch(&places_.image(event.word1), 1); }

  void put(const Logged& event) {
    const unsigned second = put_site(event.site);
    SiteState& site = places_.site(event.site);
    unsigned address = kAddressAgain, value = kValueAgain;
    if (!predicts_address(site, thread_, event.word1)) address = put_address(event, site);
    uint64_t& word = places_.word_of(site, event.word1);
    const uint64_t seen = word >> shift_of(event.word1) & mask_of(site);
    if (!predicts_value(site, thread_, seen, event.word2))
      value = put_value(event.word2, seen, site);
    learn_event(site, thread_, event, word, seen);
    out_.code((second * kAddressCodes + address) * kValueCodes + value);
  }

 private:
  unsigned put_site(uint64_t site) {
    Followers& followers = places_.followers(thread_);
    const Followers expected = followers;
    learn_site(followers, thread_, site);
    if (expected.first == site) [[likely]]
      return 0;
    if (expected.second == site) return 1;
    out_.code(kSiteLiteral);
    out_.varint(kSiteStream, site);
    return 0;
  }

  unsigned put_address(const Logged& event, SiteState& site) {
    const unsigned before = site.address_code;
    const unsigned code = find_address(event, site);
    site.address_code = uint8_t(code);
    learn_address(site, thread_, event.word1);
    return code == before ? unsigned(kAddressAgain) : code;
  }

  unsigned find_address(const Logged& event, const SiteState& site) {
    for (unsigned code = kAddressStride; code < kAddressFollowing; ++code) {
      if (expected_address(code, site, thread_) == event.word1) return code;
    }
    uint64_t& following = places_.following(event.site, site);
    if (following == event.word1) return kAddressFollowing;
    following = event.word1;
    out_.varint(kAddressStream, zigzag(event.word1 - site.last_address));
    return kAddressLiteral;
  }

  unsigned put_value(uint64_t value, uint64_t seen, SiteState& site) {
    const unsigned before = site.value_code;
    const unsigned code = find_value(value, seen, site);
    site.value_code = uint8_t(code);
    learn_value(site, thread_, seen, value);
    return code == before ? unsigned(kValueAgain) : code;
  }

  unsigned find_value(uint64_t value, uint64_t seen, const SiteState& site) {
    for (unsigned code = kValueImage; code < kValue1; ++code) {
      if (expected_value(code, site, thread_, seen) == value) return code;
    }
    const unsigned code = literal_code(value, site.last_value);
    out_.value(value, kLiteralBytes[code]);
    return code;
  }

  const Places places_;
  ThreadState& home_;
  ThreadState thread_;
  Output out_{};
};

}  // namespace

class Packer::State {
 public:
  explicit State(MappedMemory&& self) : self_(std::move(self)), work_(work_bytes()) {
    if (!work_.ok()) return;
    std::byte* at = work_.as<std::byte>();
    for (int stream = 0; stream < kStreams; ++stream) {
      begin_[stream] = at;
      at += max_bytes(stream);
    }
    packed_ = at;
    at += (max_packed() + 63) / 64 * 64;
    zstd_ = ZSTD_initStaticCCtx(at, ZSTD_estimateCCtxSize(kBlockLevel));
  }
  bool ok() const { return predictor.ok() && zstd_ != nullptr; }
  MappedMemory&& self() { return std::move(self_); }

  std::span<const std::byte> pack(uint32_t number, std::span<const Logged> events) {
    if (events.size() > kMaxEvents) return {};
    Walk walk(predictor.places(), number, begin_);
    for (size_t at = 0; at < events.size(); ++at) {
      walk.prefetch(events[std::min(at + kAhead, events.size() - 1)]);
      walk.put(events[at]);
    }
    return compress(events.size(), walk.finish());
  }

  Predictor predictor;

 private:
  static size_t work_bytes() {
    size_t sum = max_packed() + 64 + ZSTD_estimateCCtxSize(kBlockLevel);
    for (int stream = 0; stream < kStreams; ++stream) sum += max_bytes(stream);
    return sum;
  }

  std::span<const std::byte> compress(size_t events, const Output& out) {
    BlockHead head{.events = uint32_t(events), .streams = {}};
    std::byte* to = packed_ + sizeof head;
    for (int stream = 0; stream < kStreams; ++stream) {
      const size_t bytes = size_t(out.end[stream] - begin_[stream]);
      const size_t packed = compress_stream(to, begin_[stream], bytes);
      head.streams[stream] = {.bytes = uint32_t(bytes), .packed = uint32_t(packed)};
      to += packed;
    }
    std::memcpy(packed_, &head, sizeof head);
    return {packed_, to};
  }

  size_t compress_stream(std::byte* to, const std::byte* from, size_t bytes) {
    const size_t packed =
        ZSTD_compressCCtx(zstd_, to, ZSTD_compressBound(bytes), from, bytes, kBlockLevel);
    if (!ZSTD_isError(packed) && packed < bytes) return packed;
    std::memcpy(to, from, bytes);
    return bytes;
  }

  MappedMemory self_;
  MappedMemory work_;
  ZSTD_CCtx* zstd_ = nullptr;
  std::byte* begin_[kStreams] = {};
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

}  // namespace halo::trace
