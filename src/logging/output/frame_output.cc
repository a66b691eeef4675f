// Packs events and writes frames.
#include "logging/output/frame_output.h"

#include <errno.h>

#include <cstring>
#include <new>

#include "trace/file/trace_writer.h"

namespace halo::logging {

using trace::file::Bytes;
using trace::file::bytes_of;
using trace::file::FrameKind;
using trace::file::Packer;
using trace::file::SiteTraits;

bool FrameOutput::begin(std::string_view about) {
  packer_ = new (packer_memory_) Packer;
  if (!packer_->ok()) {
    errno = ENOMEM;
    return false;
  }
  second_.begin();
  return open() && trace::file::write_file_head(*this) &&
         done(trace::file::write_about(*this, about));
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
    second_.add_sites({traits, count});
  }
  const trace::file::PackedSections packed(module.copy);
  if (packed.bytes().empty()) return false;
  const std::string_view path = module.path;
  const std::string_view build_id = module.build_id;
  const trace::file::ModuleHead head =
      trace::file::module_head(module.note, module.first_site, path, build_id);
  const Bytes parts[] = {bytes_of(head), bytes_of(path), bytes_of(build_id), packed.bytes()};
  return done(trace::file::write_frame(*this, FrameKind::kModule, 0, parts));
}

bool FrameOutput::maps(std::string_view json) {
  return write_pending() && done(trace::file::write_maps(*this, json));
}

bool FrameOutput::events(uint32_t thread, std::span<const trace::Logged> events) {
  if (second_.give(thread, events)) return true;
  const std::span<const std::byte> packed = packer_->pack(thread, events);
  return write_pending() && write_block(thread, packed, events.size());
}

bool FrameOutput::write_block(uint32_t thread, std::span<const std::byte> packed, uint64_t events) {
  if (!trace::file::write_events(*this, thread, packed)) return false;
  written_ += events;
  frame_done(events);
  return true;
}

bool FrameOutput::write_pending() {
  if (!second_.pending()) return true;
  const uint32_t thread = second_.thread() | trace::file::kSecondPacker;
  const uint64_t events = second_.events();
  if (write_block(thread, second_.take(), events)) return true;
  dropped_ += events;
  return false;
}

bool FrameOutput::round(uint64_t limit_key) {
  return write_pending() && done(trace::file::write_round(*this, limit_key));
}

bool FrameOutput::end_frame(const trace::file::EndNote& note) {
  return trace::file::write_end(*this, note);
}

bool FrameOutput::end(trace::file::EndNote& note) {
  if (!write_pending()) return false;
  note.written = written_;
  note.lost += dropped_;
  return end_frame(note);
}

}  // namespace halo::logging
