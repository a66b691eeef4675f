// Unpacks events: predicts like the packer, and reads the bytes of mispredictions.
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tracing/format/decompressor.h"
#include "tracing/format/packing.h"
#include "tracing/format/predictor.h"

namespace halo::trace {
namespace {

// A literal is read as 8 bytes, so each stream has this many bytes of padding.
constexpr size_t kSlack = 8;

[[noreturn]] void damaged() { throw std::runtime_error("a block of events is damaged"); }

class Input {
 public:
  void open(const std::byte* begin, size_t bytes) { at_ = begin, end_ = begin + bytes; }
  bool at_end() const { return at_ == end_; }
  uint8_t byte() {
    if (at_ == end_) damaged();
    return uint8_t(*at_++);
  }
  uint64_t low_bytes(unsigned count) {
    if (size_t(end_ - at_) < count) damaged();
    uint64_t word;
    std::memcpy(&word, at_, sizeof word);
    at_ += count;
    return count == 8 ? word : word & ((uint64_t{1} << 8 * count) - 1);
  }
  uint64_t varint() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      number |= uint64_t(next & 127) << shift;
      if (next < 128) return number;
    }
    damaged();
  }

 private:
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
};

// The codes: the stream stores those that are not 0, and the number of zeros between them.
class Codes {
 public:
  explicit Codes(Input& input) : input_(input) { read_run(); }
  unsigned next() {
    if (zeros_ != 0) {
      --zeros_;
      return 0;
    }
    const unsigned code = input_.byte();
    read_run();
    return code;
  }

 private:
  void read_run() {
    if (input_.at_end()) {  // only zeros are left
      zeros_ = ~size_t{0};
      return;
    }
    unsigned run = kFullRun;
    while (run == kFullRun) zeros_ += run = input_.byte();
  }

  Input& input_;
  size_t zeros_ = 0;
};

uint64_t from_zigzag(uint64_t number) { return (number >> 1) ^ (0 - (number & 1)); }

// Iterates over the events of a block. It copies the state that changes with each event, so that
// the compiler can keep it in registers.
class Walk {
 public:
  Walk(const Places& places, uint32_t thread, Input (&streams)[kStreams])
      : places_(places),
        home_(places.thread(thread)),
        thread_(home_),
        streams_(streams),
        codes_(streams[kCodeStream]) {}

  void finish() {
    home_ = thread_;
    for (const Input& stream : streams_) {
      if (!stream.at_end()) damaged();
    }
  }

  void get(Logged& event) {
    Followers& followers = places_.followers(thread_);
    unsigned code = codes_.next();
    event.site = code < kPairs ? followers.first : followers.second;
    if (code == kSiteLiteral) {
      event.site = streams_[kSiteStream].varint();
      code = codes_.next();
    } else if (code >= kPairs) {
      code -= kPairs;
    }
    if (code >= kPairs) damaged();
    learn_site(followers, thread_, event.site);
    SiteState& site = places_.site(event.site);
    event.word1 = get_address(code / kValueCodes, event.site, site);
    uint64_t& word = places_.word_of(site, event.word1);
    const uint64_t seen = word >> shift_of(event.word1) & mask_of(site);
    event.word2 = get_value(code % kValueCodes, seen, site);
    learn_event(site, thread_, event, word, seen);
  }

 private:
  uint64_t get_address(unsigned code, uint64_t number, SiteState& site) {
    const bool again = code == kAddressAgain;
    if (again) code = site.address_code;
    if (again && code < kAddressFollowing) return expected_address(code, site, thread_);
    site.address_code = uint8_t(code);
    const uint64_t address = find_address(code, number, site);
    learn_address(site, thread_, address);
    return address;
  }

  uint64_t find_address(unsigned code, uint64_t number, const SiteState& site) {
    if (code < kAddressFollowing) return expected_address(code, site, thread_);
    uint64_t& following = places_.following(number, site);
    if (code == kAddressLiteral) {
      following = site.last_address + from_zigzag(streams_[kAddressStream].varint());
    }
    return following;
  }

  uint64_t get_value(unsigned code, uint64_t seen, SiteState& site) {
    const bool again = code == kValueAgain;
    if (again) code = site.value_code;
    if (again && code < kValue1) return expected_value(code, site, thread_, seen);
    site.value_code = uint8_t(code);
    const uint64_t value = find_value(code, seen, site);
    learn_value(site, thread_, seen, value);
    return value;
  }

  uint64_t find_value(unsigned code, uint64_t seen, const SiteState& site) {
    if (code < kValue1) return expected_value(code, site, thread_, seen);
    const uint64_t low = streams_[kValueStream].low_bytes(kLiteralBytes[code]);
    return code == kValueLow4 ? low | (site.last_value >> 32 << 32) : low;
  }

  const Places places_;
  ThreadState& home_;
  ThreadState thread_;
  Input (&streams_)[kStreams];
  Codes codes_;
};

}  // namespace

class Unpacker::State {
 public:
  State() : zstd_(ZSTD_createDCtx()) {
    if (!predictor.ok() || zstd_ == nullptr) throw std::bad_alloc();
  }

  void unpack(uint32_t number, std::span<const std::byte> payload, std::vector<Logged>& events) {
    const size_t count = open_streams(payload);
    events.resize(count);
    Walk walk(predictor.places(), number, streams_);
    for (Logged& event : events) walk.get(event);
    walk.finish();
  }

  Predictor predictor;

 private:
  size_t open_streams(std::span<const std::byte> payload) {
    BlockHead head;
    if (payload.size() < sizeof head) damaged();
    std::memcpy(&head, payload.data(), sizeof head);
    if (head.events > Packer::kMaxEvents) damaged();
    payload = payload.subspan(sizeof head);
    for (int stream = 0; stream < kStreams; ++stream) {
      const StreamHead& part = head.streams[stream];
      if (part.bytes > kMaxBytes[stream] * head.events || part.packed > payload.size()) damaged();
      open(stream, payload.first(part.packed), part.bytes);
      payload = payload.subspan(part.packed);
    }
    if (!payload.empty()) damaged();
    return head.events;
  }

  void open(int stream, std::span<const std::byte> packed, size_t bytes) {
    std::vector<std::byte>& to = unpacked_[stream];
    if (to.size() < bytes + kSlack) to.resize(bytes + kSlack);
    if (packed.size() == bytes) {
      std::memcpy(to.data(), packed.data(), bytes);
    } else if (ZSTD_decompressDCtx(zstd_.get(), to.data(), bytes, packed.data(), packed.size()) !=
               bytes) {
      damaged();
    }
    streams_[stream].open(to.data(), bytes);
  }

  Decompressor zstd_;
  Input streams_[kStreams];
  std::vector<std::byte> unpacked_[kStreams];
};

Unpacker::Unpacker() : state_(std::make_unique<State>()) {}
Unpacker::~Unpacker() = default;

void Unpacker::add_sites(std::span<const SiteTraits> sites) {
  if (!state_->predictor.add_sites(sites)) throw std::bad_alloc();
}

void Unpacker::unpack(uint32_t thread, std::span<const std::byte> payload,
                      std::vector<Logged>& events) {
  state_->unpack(thread, payload, events);
}

}  // namespace halo::trace
