// halo-write-trace: writes the trace that a text describes, for tests of trace readers.
//
//   halo-write-trace TRACE < text
//
// Lines: `metadata JSON`, `maps JSON`, `string NAME TEXT`, `type NAME STRING SIZE`, `field TYPE
// STRING STRING OFFSET SIZE`, `site KIND SIZE LINE VARIABLE TYPE OWNER OFFSET` (a number, `-` for
// no reference), `module PATH BUILD-ID`, `THREAD SITE WORD1 WORD2` (an event), `round KEY`, `end
// ENDING DETAIL WRITTEN LOST`. Fields come behind their type. Sites are numbered from 16.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tracing/format/packing.h"
#include "tracing/format/trace_writer.h"

namespace {

using namespace halo::trace;

// The three sections in one piece of memory, so that references fit.
struct Sections {
  char strings[1 << 16] = "";
  char types[1 << 16] = "";
  Site sites[1024] = {};
};

struct DescriptorSink {
  int descriptor;
  bool write(const void* bytes, size_t count) {
    return ::write(descriptor, bytes, count) == ssize_t(count);
  }
};

class Writer {
 public:
  explicit Writer(int descriptor) : sink_{descriptor} { write_file_head(sink_); }

  bool line(const std::string& text) {
    std::istringstream in(text);
    std::string verb, rest;
    in >> verb;
    if (verb.empty() || verb[0] == '#') return true;
    if (isdigit(verb[0])) return event(uint32_t(std::stoul(verb)), in);
    flush();
    if (verb == "string") return string(in);
    if (verb == "type") return type(in);
    if (verb == "field") return field(in);
    if (verb == "site") return site(in);
    if (verb == "module") return module(in);
    if (verb == "round") return number(in, [&](uint64_t key) { write_round(sink_, key); });
    if (verb == "end") return end(in);
    std::getline(in >> std::ws, rest);
    if (verb == "about") return write_metadata(sink_, rest);
    return verb == "maps" && write_maps(sink_, rest);
  }

  void flush() {
    if (events_.empty()) return;
    write_events(sink_, thread_, packer_.pack(thread_, events_));
    events_.clear();
  }

 private:
  template <class Then>
  bool number(std::istream& in, Then&& then) {
    uint64_t value = 0;
    if (!(in >> value)) return false;
    then(value);
    return true;
  }
  Reference to(Reference& from, const std::string& name, std::map<std::string, char*>& among) {
    return name == "-" ? 0 : Reference(among.at(name) - reinterpret_cast<char*>(&from));
  }

  bool string(std::istream& in) {
    std::string name, text;
    if (!(in >> name) || !std::getline(in >> std::ws, text)) return false;
    named_strings_[name] = strings_end_;
    strings_end_ = std::strcpy(strings_end_, text.c_str()) + text.size() + 1;
    return true;
  }
  bool type(std::istream& in) {
    std::string name, string;
    auto* note = reinterpret_cast<TypeNote*>(types_end_);
    if (!(in >> name >> string >> note->size)) return false;
    note->kind = TypeNoteKind::kStructure;
    note->name = to(note->name, string, named_strings_);
    named_types_[name] = types_end_;
    types_end_ += sizeof *note;
    return true;
  }
  bool field(std::istream& in) {
    std::string type, name, of;
    auto* note = reinterpret_cast<FieldNote*>(types_end_);
    if (!(in >> type >> name >> of >> note->offset >> note->size)) return false;
    note->name = to(note->name, name, named_strings_);
    note->type = to(note->type, of, named_strings_);
    ++reinterpret_cast<TypeNote*>(named_types_.at(type))->fields;
    types_end_ += sizeof *note;
    return true;
  }
  bool site(std::istream& in) {
    Site& site = sections_->sites[sites_++];
    unsigned kind = 0;
    std::string variable, type, owner;
    if (!(in >> kind >> site.size >> site.line >> variable >> type >> owner >> site.owner_offset))
      return false;
    site.kind = SiteKind(kind);
    site.variable = to(site.variable, variable, named_strings_);
    site.type = to(site.type, type, named_strings_);
    site.owner = to(site.owner, owner, named_types_);
    const SiteTraits traits{uint8_t(kind), site.size};
    return packer_.add_sites({&traits, 1});
  }
  bool module(std::istream& in) {
    std::string path, build_id;
    if (!(in >> path >> build_id)) return false;
    const auto* sites = reinterpret_cast<const char*>(sections_->sites);
    const ModuleNote note{.version = kSiteVersion,
                          .site_size = sizeof(Site),
                          .reserved = 0,
                          .sites = sites,
                          .sites_end = sites + sites_ * sizeof(Site),
                          .types = sections_->types,
                          .types_end = types_end_,
                          .strings = sections_->strings,
                          .strings_end = strings_end_};
    return write_module(sink_, note, kMarkers, path, build_id);
  }
  bool event(uint32_t thread, std::istream& in) {
    Logged event{};
    if (!(in >> event.site >> event.word1 >> event.word2)) return false;
    if (thread != thread_) flush();
    thread_ = thread;
    events_.push_back(event);
    return true;
  }
  bool end(std::istream& in) {
    EndNote note{};
    uint32_t ending = 0;
    if (!(in >> ending >> note.detail >> note.written >> note.lost)) return false;
    note.ending = Ending(ending);
    return write_end(sink_, note);
  }

  DescriptorSink sink_;
  Packer packer_;
  std::unique_ptr<Sections> sections_ = std::make_unique<Sections>();
  char* strings_end_ = sections_->strings;
  char* types_end_ = sections_->types;
  size_t sites_ = 0;
  std::map<std::string, char*> named_strings_, named_types_;
  uint32_t thread_ = 0;
  std::vector<Logged> events_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int descriptor = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (descriptor < 0) return 1;
  Writer writer(descriptor);
  std::string text;
  while (std::getline(std::cin, text)) {
    if (writer.line(text)) continue;
    std::cerr << "not understood: " << text << '\n';
    return 1;
  }
  writer.flush();
  return 0;
}
