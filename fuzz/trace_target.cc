// A trace must be refused with a sentence, or delivered.
#include "fuzz/trace_target.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "fuzz/bytes.h"
#include "fuzz/finding.h"
#include "fuzz/trace_maker.h"
#include "tracing/format/site_table.h"
#include "tracing/format/synthetic_sections.h"
#include "tracing/format/synthetic_trace.h"
#include "tracing/format/trace_reader.h"

namespace halo::fuzz {
namespace {

using namespace trace;
using namespace trace;

enum Kind { kTrace, kRepairedTrace, kSections, kEvents, kKinds };

bool is_sentence(std::string_view text) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return text.starts_with("th") && text.size() < 120 && std::ranges::all_of(text, printable);
}

void query_all(const SiteTable& table) {
  for (uint64_t number = kMarkers; number < table.end(); ++number) {
    const SiteText& site = table[number];
    require(table.contains(number), "a site is not known");
    require(site.owner < int32_t(table.types().size()), "a site has an owner that is not there");
    table.field_path(site.owner, site.owner_offset, site.size);
    require(site.function.find('\0') == site.function.npos, "a string has no end");
  }
}

// Reads all data that it receives.
class Checker : public TraceVisitor {
 public:
  void module(const Module& module) override {
    table_.add(module);
    query_all(table_);
  }
  void events(uint32_t, std::span<const Logged> events) override {
    require(events.size() <= Packer::kMaxEvents, "a block has more events than there can be");
  }
  void end(const EndNote&) override {
    require(!ended_, "a trace ends twice");
    ended_ = true;
  }
  bool ended() const { return ended_; }

 private:
  SiteTable table_;
  bool ended_ = false;
};

void read_trace(std::string_view bytes) {
  const MemoryFile file(bytes);
  Checker checker;
  try {
    const ReadResult result = TraceReader(file.descriptor()).read(checker);
    require(checker.ended() == (result == ReadResult::kComplete), "a cut trace is called complete");
  } catch (const TraceError& error) {
    require(is_sentence(error.what()), "a trace is refused with something else than a sentence");
  }
}

void resolve_sections(std::string_view bytes) {
  uint32_t lengths[2] = {};
  if (bytes.size() < sizeof lengths) return;
  std::memcpy(lengths, bytes.data(), sizeof lengths);
  bytes.remove_prefix(sizeof lengths);
  MadeSections made;
  for (const auto& [section, length] :
       {std::pair(&made.sites, lengths[0]), std::pair(&made.types, lengths[1])}) {
    *section = bytes.substr(0, length);
    bytes.remove_prefix(section->size());
  }
  made.strings = bytes;
  SiteTable table;
  try {
    made.add_to(table, kMarkers, "/bin/x");
  } catch (const TraceError& error) {
    require(is_sentence(error.what()), "sections are refused with something else than a sentence");
    return;
  }
  query_all(table);
}

// Words that repeat, step, or derive from others, as the bytes select.
uint64_t next_word(Bytes& bytes, const std::vector<Logged>& events) {
  const uint8_t how = bytes.byte();
  const size_t back = 1 + bytes.byte() % 16;
  const Logged before = back <= events.size() ? events[events.size() - back] : Logged{};
  const uint64_t small = bytes.byte();
  switch (how % 5) {
    case 0:
      return before.word1 + small;
    case 1:
      return before.word2 - small;
    case 2:
      return small << how % 64;
    case 3:
      return uint64_t{bytes.word()} << 32 | bytes.word();
    default:
      return before.word2 * 2 - before.word1;
  }
}

void round_trip(std::span<const uint8_t> input) {
  Bytes bytes(input);
  Packer packer;
  Unpacker unpacker;
  require(packer.ok(), "a packer has no memory");
  std::vector<Logged> events, back;
  while (!bytes.empty()) {
    const SiteTraits site{.kind = bytes.byte(), .size = bytes.byte()};
    require(packer.add_sites({&site, 1}), "a packer has no memory for a site");
    unpacker.add_sites({&site, 1});
    events.clear();
    for (auto count = bytes.byte(); count != 0 && !bytes.empty(); --count) {
      const uint64_t number = bytes.byte() % 32;
      const uint64_t word1 = next_word(bytes, events);
      events.push_back({number == 31 ? word1 : number, word1, next_word(bytes, events)});
    }
    const uint32_t thread = bytes.byte();
    unpacker.unpack(thread, packer.pack(thread, events), back);
    const auto same = [](const Logged& a, const Logged& b) {
      return a.site == b.site && a.word1 == b.word1 && a.word2 == b.word2;
    };
    require(std::ranges::equal(events, back, same), "events come back otherwise");
  }
}

void run(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  std::string text(rest.begin(), rest.end());
  switch (input[0] % kKinds) {
    case kRepairedTrace:
      repair_checksums(text);
      [[fallthrough]];
    case kTrace:
      return read_trace(text);
    case kSections:
      return resolve_sections(text);
    default:
      return round_trip(rest);
  }
}

Input make(Random& random) {
  const auto kind = uint8_t(random() % kKinds);
  std::string text;
  if (kind <= kRepairedTrace) text = make_trace(random);
  if (kind == kSections) text = make_sections(random);
  if (kind == kEvents) {
    text.resize(random() % 2000);
    std::ranges::generate(text, [&] { return char(random() % (random() % 2 == 0 ? 256 : 8)); });
  } else if (random() % 8 != 0) {
    change(text, random);
  }
  text.insert(text.begin(), char(kind));
  return Input(text.begin(), text.end());
}

}  // namespace

constinit const Target kTraceTarget{"trace", 100, make, run};

}  // namespace halo::fuzz
