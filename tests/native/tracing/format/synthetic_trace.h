// A synthetic trace in memory, and a record of a reader's calls.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "tracing/format/trace_reader.h"
#include "tracing/format/trace_writer.h"

namespace halo::trace {

struct MemorySink {
  bool write(const void* from, size_t count) {
    bytes.append(static_cast<const char*>(from), count);
    return true;
  }
  std::string bytes;
};

// The sections of a module, in the layout of the pass.
struct MadeModule {
  std::vector<Site> sites;
  std::string types;
  std::string strings;

  ModuleNote note() const {
    const char* const begin = reinterpret_cast<const char*>(sites.data());
    return {.version = kSiteVersion,
            .site_size = sizeof(Site),
            .reserved = 0,
            .sites = begin,
            .sites_end = begin + sites.size() * sizeof(Site),
            .types = types.data(),
            .types_end = types.data() + types.size(),
            .strings = strings.data(),
            .strings_end = strings.data() + strings.size()};
  }
};

inline MadeModule module_of(std::span<const SiteTraits> traits) {
  MadeModule module;
  for (const SiteTraits& one : traits) {
    Site site{};
    site.kind = SiteKind(one.kind);
    site.size = one.size;
    module.sites.push_back(site);
  }
  module.strings = std::string("no string", 10);
  return module;
}

// Records each call as a line.
class Script : public TraceVisitor {
 public:
  void metadata(std::string_view json) override { line("about " + std::string(json)); }
  void module(const Module& module) override {
    line("module " + std::string(module.path) + " " + std::string(module.build_id) + " sites " +
         std::to_string(module.sites.size()) + " strings " + std::to_string(module.strings.size()));
  }
  void maps(std::string_view json) override { line("maps " + std::string(json)); }
  void events(uint32_t thread, std::span<const Logged> events) override {
    line("events of " + std::to_string(thread));
    for (const Logged& event : events) {
      line(std::to_string(event.site) + " " + std::to_string(event.word1) + " " +
           std::to_string(event.word2));
    }
  }
  void round(uint64_t limit) override { line("round " + std::to_string(limit)); }
  void end(const EndNote& note) override {
    line("end " + std::to_string(unsigned(note.ending)) + " " + std::to_string(note.written));
  }

  std::string text;

 private:
  void line(const std::string& what) { text += what + "\n"; }
};

// An anonymous file with these bytes.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("trace", MFD_CLOEXEC)) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count <= 0) break;
      done += size_t(count);
    }
    lseek(descriptor_, 0, SEEK_SET);
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace halo::trace
