// Packs events and writes frames.
#include "tracing/library/output/frame_output.h"

#include <errno.h>

#include <cstring>
#include <new>

#include "tracing/format/trace_writer.h"

namespace halo::logging {

using trace::Bytes;
using trace::bytes_of;
using trace::FrameKind;
using trace::Packer;
using trace::SiteTraits;

bool FrameOutput::begin(std::string_view metadata) {
  packer_ = new (packer_memory_) Packer;
  if (!packer_->ok()) {
    errno = ENOMEM;
    return false;
  }
  background_.begin();
  return open() && trace::write_file_head(*this) && done(trace::write_metadata(*this, metadata));
}

bool FrameOutput::module(const LoggedModule& module) {
  if (!write_pending()) return false;
  const auto* site = reinterpret_cast<const trace::Site*>(module.copy.sites);
  const auto* end = reinterpret_cast<const trace::Site*>(module.copy.sites_end);
  errno = ENOMEM;
  for (SiteTraits traits[256]; site < end;) {
    size_t count = 0;
    for (; count < std::size(traits) && site < end; ++site)
      traits[count++] = {uint8_t(site->kind), site->size};
    if (!packer_->add_sites({traits, count})) return false;
    background_.add_sites({traits, count});
  }
  const trace::PackedSections packed(module.copy);
  if (packed.bytes().empty()) return false;
  const std::string_view path = module.path;
  const std::string_view build_id = module.build_id;
  const trace::ModuleHead head = trace::module_head(module.note, module.first_site, path, build_id);
  const Bytes parts[] = {bytes_of(head), bytes_of(path), bytes_of(build_id), packed.bytes()};
  return done(trace::write_frame(*this, FrameKind::kModule, 0, parts));
}

bool FrameOutput::maps(std::string_view json) {
  return write_pending() && done(trace::write_maps(*this, json));
}

bool FrameOutput::events(uint32_t thread, std::span<const trace::Logged> events) {
  if (background_.submit(thread, events)) return true;
  const std::span<const std::byte> packed = packer_->pack(thread, events);
  return write_pending() && write_block(thread, packed, events.size());
}

bool FrameOutput::write_block(uint32_t thread, std::span<const std::byte> packed, uint64_t events) {
  if (!trace::write_events(*this, thread, packed)) return false;
  written_ += events;
  frame_done(events);
  return true;
}

bool FrameOutput::write_pending() {
  if (!background_.pending()) return true;
  const uint32_t thread = background_.thread() | trace::kBackgroundPacker;
  const uint64_t events = background_.events();
  if (write_block(thread, background_.take(), events)) return true;
  dropped_ += events;
  return false;
}

bool FrameOutput::round(uint64_t limit_key) {
  return write_pending() && done(trace::write_round(*this, limit_key));
}

bool FrameOutput::end_frame(const trace::EndNote& note) { return trace::write_end(*this, note); }

bool FrameOutput::end(trace::EndNote& note) {
  if (!write_pending()) return false;
  note.written = written_;
  note.lost += dropped_;
  return end_frame(note);
}

}  // namespace halo::logging
