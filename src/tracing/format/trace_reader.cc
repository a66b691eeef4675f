// Reads and checks frames: no content is used before its checksum is verified, and no size before
// it is checked.
#include "tracing/format/trace_reader.h"

#include <unistd.h>
#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "tracing/format/decompressor.h"
#include "tracing/format/trace_writer.h"

namespace halo::trace {
namespace {

// More than any trace contains: a frame that claims more is damaged.
constexpr uint64_t kMaxPayload = uint64_t{1} << 30;
constexpr uint64_t kMaxSections = uint64_t{1} << 30;
constexpr size_t kPortion = size_t{1} << 20;

// The memory grows with the actual size, whatever `bytes` claims. Empty if the sizes differ or the
// data are damaged.
std::vector<std::byte> decompress(std::span<const std::byte> packed, size_t bytes) {
  const Decompressor zstd(ZSTD_createDCtx());
  if (zstd == nullptr) throw std::bad_alloc();
  std::vector<std::byte> to;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{nullptr, 0, 0};
  for (size_t left = 1; left != 0;) {
    if (out.pos == out.size && out.size < bytes) to.resize(std::min(bytes, to.size() + kPortion));
    out.dst = to.data();
    out.size = to.size();
    const size_t in_before = in.pos, out_before = out.pos;
    left = ZSTD_decompressStream(zstd.get(), &out, &in);
    if (ZSTD_isError(left)) return {};
    if (left != 0 && in.pos == in_before && out.pos == out_before) return {};
  }
  return in.pos == in.size && out.pos == bytes ? to : std::vector<std::byte>{};
}

}  // namespace

void TraceReader::damaged(const char* what) const {
  throw TraceError("the trace is damaged: the frame at byte " + std::to_string(frame_) + " " +
                   what);
}

// Returns fewer bytes than requested only at the end.
size_t TraceReader::read_some(std::byte* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw TraceError("the trace cannot be read: " + std::generic_category().message(errno));
    }
    if (got == 0) break;
    done += size_t(got);
  }
  at_ += done;
  return done;
}

void TraceReader::read_file_head() {
  FileHead head{};
  const size_t got = read_some(reinterpret_cast<std::byte*>(&head), sizeof head);
  if (got == 0) throw TraceError("this is not a trace: it is empty");
  if (std::memcmp(head.magic, kMagic, std::min(got, sizeof kMagic)) != 0) {
    throw TraceError("this is not a trace");
  }
  if (got < sizeof head) throw TraceError("the trace is cut short within its first 16 bytes");
  if (head.version > kVersion) {
    throw TraceError("the trace is of version " + std::to_string(head.version) +
                     ", this halo reads up to " + std::to_string(kVersion));
  }
  if (head.version == 0 || head.reserved != 0) throw TraceError("the trace is damaged at its head");
}

bool TraceReader::read_head(FrameHead& head) {
  frame_ = at_;
  return read_some(reinterpret_cast<std::byte*>(&head), sizeof head) == sizeof head;
}

bool TraceReader::read_payload(const FrameHead& head) {
  if (head.kind < FrameKind::kMetadata || head.kind > FrameKind::kEnd)
    damaged("has an unknown kind");
  if (head.bytes > kMaxPayload) damaged("is too large");
  payload_.clear();
  while (payload_.size() < head.bytes) {
    const size_t before = payload_.size();
    const size_t portion = std::min<size_t>(kPortion, head.bytes - before);
    payload_.resize(before + portion);
    if (read_some(payload_.data() + before, portion) < portion) return false;
  }
  const uint64_t seed = check_seed(head.kind, head.thread);
  if (XXH64(payload_.data(), payload_.size(), seed) != head.check) damaged("has a wrong checksum");
  return true;
}

template <class T>
T TraceReader::whole_payload() const {
  if (payload_.size() != sizeof(T)) damaged("is of a wrong size");
  T object;
  std::memcpy(&object, payload_.data(), sizeof object);
  return object;
}

void TraceReader::add_sites(std::span<const std::byte> sites) {
  std::vector<SiteTraits> traits(sites.size() / sizeof(Site));
  for (size_t at = 0; at < traits.size(); ++at) {
    Site site;
    std::memcpy(&site, sites.data() + at * sizeof site, sizeof site);
    traits[at] = {.kind = uint8_t(site.kind), .size = site.size};
  }
  for (Unpacker& unpacker : unpackers_) unpacker.add_sites(traits);
  next_site_ += traits.size();
}

void TraceReader::deliver_module(TraceVisitor& visitor) {
  Module module{};
  if (payload_.size() < sizeof module.head) damaged("is of a wrong size");
  std::memcpy(&module.head, payload_.data(), sizeof module.head);
  const ModuleHead& head = module.head;
  const std::span rest = std::span<const std::byte>(payload_).subspan(sizeof head);
  const uint64_t names = uint64_t{head.path_bytes} + head.build_id_bytes;
  if (names > rest.size()) damaged("is of a wrong size");
  for (const uint64_t bytes : {head.sites_bytes, head.types_bytes, head.strings_bytes}) {
    if (bytes > kMaxSections) damaged("has sections that are too large");
  }
  if (head.sites_bytes % sizeof(Site) != 0) damaged("has a part of a site");
  if (head.first_site != next_site_) damaged("does not number its sites in order");
  const size_t sum = head.sites_bytes + head.types_bytes + head.strings_bytes;
  const std::vector<std::byte> sections = decompress(rest.subspan(names), sum);
  if (sections.size() != sum) damaged("has damaged sections");
  module.path = text().substr(sizeof head, head.path_bytes);
  module.build_id = text().substr(sizeof head + head.path_bytes, head.build_id_bytes);
  const std::span<const std::byte> all(sections);
  module.sites = all.first(head.sites_bytes);
  module.types = all.subspan(head.sites_bytes, head.types_bytes);
  module.strings = all.last(head.strings_bytes);
  add_sites(module.sites);
  visitor.module(module);
}

void TraceReader::deliver_events(uint32_t head_thread, TraceVisitor& visitor) {
  const uint32_t thread = head_thread % kBackgroundPacker;
  if (thread >= kMaxThreads) damaged("has an impossible thread");
  try {
    unpackers_[head_thread / kBackgroundPacker].unpack(thread, payload_, events_);
  } catch (const std::runtime_error&) {
    damaged("has events that cannot be unpacked");
  }
  visitor.events(thread, events_);
}

void TraceReader::deliver(const FrameHead& head, TraceVisitor& visitor) {
  if ((head.kind == FrameKind::kMetadata) == begun_) damaged("is out of order");
  begun_ = true;
  switch (head.kind) {
    case FrameKind::kMetadata:
      return visitor.metadata(text());
    case FrameKind::kModule:
      return deliver_module(visitor);
    case FrameKind::kMaps:
      return visitor.maps(text());
    case FrameKind::kEvents:
      return deliver_events(head.thread, visitor);
    case FrameKind::kRound:
      return visitor.round(whole_payload<RoundMark>().limit_key);
    case FrameKind::kEnd: {
      const auto note = whole_payload<EndNote>();
      if (note.ending < Ending::kComplete || note.ending > Ending::kExec) {
        damaged("has an unknown ending");
      }
      return visitor.end(note);
    }
  }
}

ReadResult TraceReader::read(TraceVisitor& visitor) {
  read_file_head();
  FrameHead head;
  while (read_head(head)) {
    if (!read_payload(head)) return ReadResult::kCutShort;
    deliver(head, visitor);
    // This is the last frame; a live stream may stay open.
    if (head.kind == FrameKind::kEnd) return ReadResult::kComplete;
  }
  return ReadResult::kCutShort;
}

}  // namespace halo::trace
