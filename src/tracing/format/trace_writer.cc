// Checksums and compressed sections of written frames.
#include "tracing/format/trace_writer.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace halo::trace {
namespace {

constexpr int kSectionLevel = 1;

struct Sections {
  explicit Sections(const ModuleNote& note)
      : parts{section(note.sites, note.sites_end), section(note.types, note.types_end),
              section(note.strings, note.strings_end)} {}
  static Bytes section(const char* begin, const char* end) {
    return std::as_bytes(std::span(begin, size_t(end - begin)));
  }
  size_t bytes() const { return parts[0].size() + parts[1].size() + parts[2].size(); }

  Bytes parts[3];
};

}  // namespace

FrameHead frame_head(FrameKind kind, uint32_t thread, std::span<const Bytes> parts) {
  FrameHead head{.kind = kind, .thread = thread, .bytes = 0, .check = 0};
  XXH64_state_t check;
  XXH64_reset(&check, check_seed(kind, thread));
  for (const Bytes part : parts) {
    head.bytes += part.size();
    if (!part.empty()) XXH64_update(&check, part.data(), part.size());
  }
  head.check = XXH64_digest(&check);
  return head;
}

ModuleHead module_head(const ModuleNote& note, uint64_t first_site, std::string_view path,
                       std::string_view build_id) {
  const Sections sections(note);
  const auto address = [](const char* at) { return uint64_t(reinterpret_cast<uintptr_t>(at)); };
  return {.first_site = first_site,
          .sites = address(note.sites),
          .sites_bytes = sections.parts[0].size(),
          .types = address(note.types),
          .types_bytes = sections.parts[1].size(),
          .strings = address(note.strings),
          .strings_bytes = sections.parts[2].size(),
          .path_bytes = uint32_t(path.size()),
          .build_id_bytes = uint32_t(build_id.size())};
}

PackedSections::PackedSections(const ModuleNote& note) {
  const Sections sections(note);
  const size_t maximum = ZSTD_compressBound(sections.bytes());
  const size_t work_bytes = ZSTD_estimateCStreamSize(kSectionLevel);
  const MappedMemory work(work_bytes);
  MappedMemory packed(maximum);
  if (!work.ok() || !packed.ok()) return;
  ZSTD_CCtx* const zstd = ZSTD_initStaticCStream(work.as<void>(), work_bytes);
  if (zstd == nullptr) return;
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kSectionLevel);
  ZSTD_CCtx_setPledgedSrcSize(zstd, sections.bytes());
  ZSTD_outBuffer out{packed.as<void>(), maximum, 0};
  size_t left = 0;
  for (const Bytes& part : sections.parts) {
    ZSTD_inBuffer in{part.data(), part.size(), 0};
    const bool last = &part == &sections.parts[2];
    left = ZSTD_compressStream2(zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) || in.pos != in.size) return;
  }
  if (left != 0) return;
  memory_ = std::move(packed);
  bytes_ = out.pos;
}

}  // namespace halo::trace
