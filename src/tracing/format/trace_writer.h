// Writes the frames of a trace without malloc, for the logging library and for tests.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tracing/format/frames.h"
#include "tracing/format/mapped_memory.h"
#include "tracing/format/site.h"

namespace halo::trace {

// Writes all bytes or returns false; the trace is then cut short here.
template <class T>
concept Sink = requires(T& sink, const void* bytes, size_t count) {
  { sink.write(bytes, count) } -> std::same_as<bool>;
};

using Bytes = std::span<const std::byte>;

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
template <class T>
Bytes bytes_of(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

// Includes thread and kind, so that a swapped frame is detected.
inline uint64_t check_seed(FrameKind kind, uint32_t thread) {
  return uint32_t(kind) + (uint64_t{thread} << 32);
}

// The head of a frame whose payload is the concatenation of these parts.
FrameHead frame_head(FrameKind kind, uint32_t thread, std::span<const Bytes> parts);

bool write_file_head(Sink auto& sink) {
  FileHead head{.magic = {}, .version = kVersion, .reserved = 0};
  std::copy_n(kMagic, sizeof kMagic, head.magic);
  return sink.write(&head, sizeof head);
}

bool write_frame(Sink auto& sink, FrameKind kind, uint32_t thread, std::span<const Bytes> parts) {
  const FrameHead head = frame_head(kind, thread, parts);
  bool ok = sink.write(&head, sizeof head);
  for (const Bytes part : parts) ok = ok && (part.empty() || sink.write(part.data(), part.size()));
  return ok;
}

bool write_frame(Sink auto& sink, FrameKind kind, uint32_t thread, Bytes payload) {
  return write_frame(sink, kind, thread, std::span(&payload, 1));
}

// JSON, as docs/trace-format.md defines it.
bool write_metadata(Sink auto& sink, std::string_view json) {
  return write_frame(sink, FrameKind::kMetadata, 0, bytes_of(json));
}
bool write_maps(Sink auto& sink, std::string_view json) {
  return write_frame(sink, FrameKind::kMaps, 0, bytes_of(json));
}

// `packed`: a Packer's result for the events of this thread.
bool write_events(Sink auto& sink, uint32_t thread, Bytes packed) {
  return write_frame(sink, FrameKind::kEvents, thread, packed);
}

bool write_round(Sink auto& sink, uint64_t limit_key) {
  return write_frame(sink, FrameKind::kRound, 0, bytes_of(RoundMark{limit_key}));
}

bool write_end(Sink auto& sink, const EndNote& note) {
  return write_frame(sink, FrameKind::kEnd, 0, bytes_of(note));
}

// The three sections of a module as one zstd frame, in its own memory.
class PackedSections {
 public:
  explicit PackedSections(const ModuleNote& note);
  // Empty if memory was refused.
  Bytes bytes() const { return {memory_.as<std::byte>(), bytes_}; }

 private:
  MappedMemory memory_;
  size_t bytes_ = 0;
};

ModuleHead module_head(const ModuleNote& note, uint64_t first_site, std::string_view path,
                       std::string_view build_id);

bool write_module(Sink auto& sink, const ModuleNote& note, uint64_t first_site,
                  std::string_view path, std::string_view build_id) {
  const PackedSections packed(note);
  if (packed.bytes().empty()) return false;
  const ModuleHead head = module_head(note, first_site, path, build_id);
  const Bytes parts[] = {bytes_of(head), bytes_of(path), bytes_of(build_id), packed.bytes()};
  return write_frame(sink, FrameKind::kModule, 0, parts);
}

}  // namespace halo::trace
