// Builds the parts of a trace with the writer's own functions.
#include "fuzz/trace_maker.h"

#include <algorithm>
#include <cstring>

#include "tools/synthetic_events.h"
#include "tracing/format/synthetic_sections.h"
#include "tracing/format/synthetic_trace.h"

namespace halo::fuzz {
namespace {

using namespace trace;
using namespace trace;

MadeSections sections_of(const std::vector<SiteTraits>& traits, Random& random) {
  MadeSections made;
  made.add_type({"inner", 8, {{"a", "int", 0, 4}, {"b", "int [1]", 4, 4}}});
  made.add_type({"outer", 40, {{"", "inner", 0, 8}, {"in", "inner[4]", 8, 32}}});
  for (const SiteTraits& one : traits) {
    Site site{};
    site.kind = SiteKind(one.kind);
    site.size = one.size;
    site.owner_offset = uint32_t(random() % 48);
    made.add_site(site, "function", int(random() % 3) - 1);
  }
  if (random() % 4 == 0) change(random() % 2 == 0 ? made.types : made.sites, random);
  made.sites.resize(made.sites.size() / sizeof(Site) * sizeof(Site));
  return made;
}

void write_sections(MemorySink& sink, const MadeSections& made, uint64_t first_site) {
  const auto begin = [](const std::string& section) { return section.data(); };
  const auto end = [](const std::string& section) { return section.data() + section.size(); };
  const ModuleNote note{.version = kSiteVersion,
                        .site_size = sizeof(Site),
                        .reserved = 0,
                        .sites = begin(made.sites),
                        .sites_end = end(made.sites),
                        .types = begin(made.types),
                        .types_end = end(made.types),
                        .strings = begin(made.strings),
                        .strings_end = end(made.strings)};
  ModuleHead head = module_head(note, first_site, "/bin/x", "00ff");
  head.sites = MadeSections::kSites;
  head.types = MadeSections::kTypes;
  head.strings = MadeSections::kStrings;
  const PackedSections packed(note);
  const Bytes parts[] = {bytes_of(head), bytes_of(std::string_view("/bin/x")),
                         bytes_of(std::string_view("00ff")), packed.bytes()};
  write_frame(sink, FrameKind::kModule, 0, parts);
}

}  // namespace

std::string make_trace(Random& random) {
  SyntheticProgram program(random() % 2 == 0 ? "calls" : "random", random());
  MemorySink sink;
  Packer packer;
  write_file_head(sink);
  write_metadata(sink, "{}");
  uint64_t next_site = kMarkers;
  for (auto modules = 1 + random() % 2; modules != 0; --modules) {
    const MadeSections made = sections_of(program.sites(), random);
    write_sections(sink, made, next_site);
    next_site += made.sites.size() / sizeof(Site);
    packer.add_sites(program.sites());
    write_maps(sink, "[]");
    for (auto blocks = random() % 4; blocks != 0; --blocks) {
      const auto thread = uint32_t(random() % 300);
      write_events(sink, thread, packer.pack(thread, program.run(1 + random() % 100)));
    }
    write_round(sink, random());
  }
  if (random() % 4 != 0) write_end(sink, {Ending::kComplete, 0, random(), 0});
  return sink.bytes;
}

std::string make_sections(Random& random) {
  const MadeSections made = sections_of({{.kind = 1, .size = 4}, {.kind = 2, .size = 8}}, random);
  const uint32_t lengths[] = {uint32_t(made.sites.size()), uint32_t(made.types.size())};
  return std::string(reinterpret_cast<const char*>(lengths), sizeof lengths) + made.sites +
         made.types + made.strings;
}

void change(std::string& bytes, Random& random) {
  constexpr uint64_t kAwkward[] = {0, 1, 255, 1 << 16, uint64_t{1} << 31, ~uint64_t{0}, 48, 17};
  for (auto changes = 1 + random() % 4; changes != 0 && !bytes.empty(); --changes) {
    const size_t at = random() % bytes.size(), left = bytes.size() - at;
    const uint64_t number = random() % 2 == 0 ? random() : kAwkward[random() % 8];
    switch (random() % 6) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 100));
        break;
      case 2:
        std::memcpy(&bytes[at / 8 * 8], &number, std::min<size_t>(left, 1 + random() % 8));
        break;
      default:
        bytes[at] = char(bytes[at] ^ (1 << random() % 8));
    }
  }
}

void repair_checksums(std::string& trace) {
  size_t at = sizeof(FileHead);
  while (at < trace.size() && trace.size() - at >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, &trace[at], sizeof head);
    const size_t payload = at + sizeof head;
    if (head.bytes > trace.size() - payload) return;
    const Bytes part = bytes_of(std::string_view(trace).substr(payload, head.bytes));
    head.check = frame_head(head.kind, head.thread, {&part, 1}).check;
    std::memcpy(&trace[at], &head, sizeof head);
    at = payload + head.bytes;
  }
}

}  // namespace halo::fuzz
