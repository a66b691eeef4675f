// Builds and changes plans.
#include "fuzz/plan_mutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/crc32.h"
#include "fuzz/own_module.h"
#include "fuzz/real_stack.h"
#include "plan/plan_builder.h"

namespace halo::fuzz {
namespace {

using plan::Conjunction;
using plan::Group;
using plan::Header;
using plan::Module;
using plan::PlanBuilder;
using plan::Rule;
using plan::Site;
using plan::State;

uint16_t any_verdict(Random& random, size_t groups) {
  if (random() % 2 == 0) return plan::kVerdictUndecided;
  return random() % 8 == 0 ? plan::kVerdictForward : static_cast<uint16_t>(random() % groups);
}

void add_real_path(PlanBuilder& builder, Random& random, size_t groups) {
  static const std::vector<Frame> frames = learn_frames();
  std::vector<uintptr_t> seen;
  uint32_t parent = 0;
  const size_t length = 1 + random() % frames.size();
  for (size_t i = 0; i < length; ++i) {
    const Frame& frame = frames[i];
    if (std::find(seen.begin(), seen.end(), frame.address) != seen.end()) continue;
    seen.push_back(frame.address);
    parent = builder.state(parent, frame.address - own_bias(), plan::kVerdictUndecided, frame.step);
  }
  builder.at(parent).verdict = static_cast<uint16_t>(random() % groups);
}

void add_random_states(PlanBuilder& builder, Random& random, size_t groups, size_t modules) {
  const size_t count = random() % (random() % 8 == 0 ? 600 : 40);
  for (size_t i = 0; i < count; ++i) {
    const auto parent = static_cast<uint32_t>(random() % builder.states().size());
    const Rule rule = random() % 4 == 0 ? Rule::kFramePointer : Rule::kConstant;
    const auto step = static_cast<int32_t>(8 * (1 + random() % 20));
    const uint32_t made =
        builder.state(parent, 1 + random() % 30, any_verdict(random, groups), step, rule);
    State& state = builder.at(made);
    state.module = static_cast<uint32_t>(random() % modules);
    state.alignment = random() % 4 == 0 ? 16 : 0;
    if (random() % 4 != 0 || step == 8) continue;
    state.flags = plan::kStateRestoresRbp;
    state.rbp_below = static_cast<int16_t>(8 * (1 + random() % (step / 8 - 1)));
  }
}

// Rings within the limits, or a little outside.
void add_spans(PlanBuilder& builder, Random& random) {
  static constexpr uint64_t kRings[] = {0,
                                        plan::kMinRing,
                                        1 << 20,
                                        3 << 18,
                                        plan::kMaxRing,
                                        plan::kMinRing - 4096,
                                        plan::kMaxRing + 4096};
  builder.spans(kRings[random() % std::size(kRings)], random() % 2 == 0,
                random() % (plan::kMaxDensity + 2));
}

// Numbers near overflows and limits.
uint64_t interesting(Random& random) {
  static constexpr uint64_t kNumbers[] = {
      0,
      1,
      2,
      3,
      7,
      8,
      15,
      16,
      24,
      64,
      127,
      128,
      255,
      256,
      4096,
      32760,
      32768,
      0xFFFE,
      0xFFFF,
      0x10000,
      1 << 20,
      (1 << 20) + 8,
      0x7FFFFFF8,
      0x7FFFFFFF,
      0x80000000,
      0xFFFFFFF8,
      0xFFFFFFFF,
      0xFFFFFFFFFFFFFFF8,
      0xFFFFFFFFFFFFFFFF,
  };
  return random() % 3 == 0 ? random() : kNumbers[random() % std::size(kNumbers)];
}

void put(Input& file, size_t at, size_t width, uint64_t value) {
  if (at + width <= file.size()) std::memcpy(file.data() + at, &value, width);
}

struct Field {
  size_t at, width;
};
constexpr Field kHeaderFields[] = {{8, 4},  {12, 4}, {16, 8}, {24, 4}, {28, 4}, {32, 4},
                                   {36, 4}, {40, 4}, {44, 4}, {48, 4}, {52, 4}, {56, 8}};
constexpr Field kModuleFields[] = {{0, 1}, {32, 4}, {36, 4}};
constexpr Field kGroupFields[] = {{0, 4}, {4, 4}, {8, 8}};
constexpr Field kStateFields[] = {{0, 4},  {4, 4},  {8, 8},  {16, 4}, {20, 1},
                                  {21, 1}, {22, 2}, {24, 2}, {26, 2}, {28, 4}};
constexpr Field kSiteFields[] = {{0, 4}, {4, 4}, {8, 8}, {16, 4}, {20, 4}};
constexpr Field kConjunctionFields[] = {{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 2}, {10, 2}, {30, 2}};

template <size_t n>
void change_field(Input& file, const Field (&fields)[n], size_t record, Random& random) {
  const Field& field = fields[random() % n];
  put(file, record + field.at, field.width, interesting(random));
}

// The sections of a file, if it has a whole header and plausible counts.
struct Sections {
  explicit Sections(const Input& file) {
    Header header;
    if (file.size() < sizeof header) return;
    std::memcpy(&header, file.data(), sizeof header);
    const size_t before =
        sizeof header + header.modules * sizeof(Module) + header.groups * sizeof(Group);
    if (header.modules > plan::kMaxModules || header.groups > plan::kMaxGroups ||
        before > file.size())
      return;
    modules = header.modules;
    groups = header.groups;
    states_at = before;
    sites = header.sites <= plan::kMaxSites ? header.sites : 0;
    conjunctions = header.conjunctions <= plan::kMaxConjunctions ? header.conjunctions : 0;
    const size_t behind = sites * sizeof(Site) + conjunctions * sizeof(Conjunction);
    if (before + behind > file.size()) sites = conjunctions = 0;
    const size_t last = sites * sizeof(Site) + conjunctions * sizeof(Conjunction);
    states = (file.size() - before - last) / sizeof(State);
    sites_at = states_at + states * sizeof(State);
  }
  size_t size() const {
    return sites_at + sites * sizeof(Site) + conjunctions * sizeof(Conjunction);
  }
  size_t modules = 0, groups = 0, states = 0, sites = 0, conjunctions = 0;
  size_t states_at = sizeof(Header), sites_at = sizeof(Header);
};

void change_record(Input& file, Random& random) {
  const Sections sections(file);
  const uint64_t which = random() % 8;
  if (which >= 6 && sections.conjunctions != 0)
    return change_field(
        file, kConjunctionFields,
        sections.size() - (1 + random() % sections.conjunctions) * sizeof(Conjunction), random);
  if (which >= 4 && sections.sites != 0)
    return change_field(file, kSiteFields,
                        sections.sites_at + random() % sections.sites * sizeof(Site), random);
  if (which == 0 && sections.modules != 0)
    return change_field(file, kModuleFields,
                        sizeof(Header) + random() % sections.modules * sizeof(Module), random);
  if (which <= 2 && sections.groups != 0)
    return change_field(file, kGroupFields,
                        sections.states_at - (1 + random() % sections.groups) * sizeof(Group),
                        random);
  if (sections.states != 0)
    change_field(file, kStateFields,
                 sections.states_at + random() % sections.states * sizeof(State), random);
}

void repeat_state(Input& file, Random& random) {
  const Sections sections(file);
  if (sections.states == 0) return;
  const size_t from = sections.states_at + random() % sections.states * sizeof(State);
  const Input copy(file.begin() + static_cast<ptrdiff_t>(from),
                   file.begin() + static_cast<ptrdiff_t>(from + sizeof(State)));
  for (uint64_t left = 1 + random() % 20; left != 0; --left)
    file.insert(file.end(), copy.begin(), copy.end());
}

void change(Input& file, Random& random) {
  switch (random() % 10) {
    case 0:
      if (!file.empty()) file[random() % file.size()] ^= static_cast<uint8_t>(1u << random() % 8);
      return;
    case 1:
      return file.resize(random() % (file.size() + 1));
    case 2:
      return file.resize(file.size() + random() % 64, static_cast<uint8_t>(random()));
    case 3:
      return change_field(file, kHeaderFields, 0, random);
    case 4:
      return repeat_state(file, random);
    default:
      return change_record(file, random);
  }
}

// Updates the parts of the header that follow from the rest.
void repair(Input& file, Random& random) {
  if (file.size() < sizeof(Header)) return;
  const Sections sections(file);
  if (file[offsetof(Header, version)] >= plan::kHintVersion) {
    // Its sections are not known here: as many bytes as before, or the reader refuses it.
    put(file, offsetof(Header, file_size), 8, file.size());
  } else if (random() % 4 != 0) {
    file.resize(sections.size());
    std::memcpy(file.data(), plan::kMagic, sizeof plan::kMagic);
    const bool selects = sections.sites != 0 || sections.conjunctions != 0;
    put(file, offsetof(Header, version), 4, plan::kLayoutVersion);
    if (selects) put(file, offsetof(Header, flags), 4, plan::kHeaderSelectors);
    put(file, offsetof(Header, sites), 4, sections.sites);
    put(file, offsetof(Header, conjunctions), 4, sections.conjunctions);
    put(file, offsetof(Header, file_size), 8, file.size());
    put(file, offsetof(Header, modules), 4, sections.modules);
    put(file, offsetof(Header, groups), 4, sections.groups);
    put(file, offsetof(Header, states), 4, sections.states);
  }
  const auto body = std::as_bytes(std::span(file)).subspan(sizeof(Header));
  put(file, offsetof(Header, crc), 4, base::crc32(body));
}

Input input_of(const std::vector<std::byte>& bytes) {
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  return Input(from, from + bytes.size());
}

// Call sites at the low end of this program, which has no code, so that no call is redirected.
Input make_selectors(Random& random) {
  PlanBuilder builder;
  builder.module(kOwnBuildId).module(1);
  const size_t groups = 1 + random() % 6, sites = 1 + random() % 40;
  for (size_t i = 0; i < groups; ++i) builder.group();
  for (size_t i = 0; i < sites; ++i)
    builder.site(5 + random() % 50, static_cast<uint32_t>(8 * (random() % 8)),
                 static_cast<uint32_t>(random() % 2));
  for (uint64_t left = random() % 20; left != 0; --left) {
    std::vector<uint16_t> named(1 + random() % 4);
    for (auto& site : named) site = static_cast<uint16_t>(random() % sites);
    builder.conjunction(static_cast<uint16_t>(random() % groups), named);
  }
  return input_of(builder.bytes());
}

// A plan that uses no callers.
Input make_random_pools(Random& random) {
  PlanBuilder builder;
  const size_t groups = 1 + random() % 6;
  for (size_t i = 0; i < groups; ++i) builder.group();
  const auto executable = static_cast<uint32_t>(random() % 2);
  if (executable != 0) builder.module(kOwnBuildId);
  builder.at(0).verdict = plan::kVerdictForward;
  builder.at(0).alignment = random() % 2 == 0 ? 16 : 0;
  Input file = input_of(builder.bytes());
  put(file, offsetof(Header, flags), 4, plan::kHeaderRandomPools);
  put(file, offsetof(Header, executable), 4, executable);
  return file;
}

}  // namespace

namespace {

// A third of the groups has a mask of starts, and half of these step to them.
void set_layout(std::vector<std::byte>& plan, uint32_t group, Random& random) {
  const auto flags = static_cast<uint32_t>(random() % 4);
  if (random() % 3 != 0) return set_group_flags(plan, group, flags);
  const auto way = static_cast<uint32_t>(plan::kMinWay + random() % 5);
  const auto steps = static_cast<uint32_t>(random() % 2) * plan::kGroupStepping;
  const uint64_t starts = uint64_t{1} << random() % 64 | (random() & random());
  set_group_flags(
      plan, group,
      flags | plan::kGroupBySize | plan::kGroupMasked | steps | way << plan::kGroupWayBit, starts);
}

}  // namespace

Input make_plan(Random& random) {
  const uint64_t kind = random() % 16;
  if (kind == 0) return make_random_pools(random);
  if (kind <= 2) return make_selectors(random);
  static constexpr uint32_t kLimits[] = {0, 1, 8, 100, 4096, 4096, 65536};
  PlanBuilder builder;
  builder.module(kOwnBuildId);
  const size_t modules = 1 + random() % 3;
  for (size_t i = 1; i < modules; ++i) {
    builder.module(static_cast<uint8_t>(i));
    if (random() % 4 == 0) builder.layout(static_cast<uint32_t>(random()));
  }
  const size_t groups = 1 + random() % (random() % 16 == 0 ? 300 : 6);
  const bool has_spans = random() % 4 == 0;
  for (size_t i = 0; i < groups; ++i) {
    builder.group(random() % 2 == 0 ? plan::Reuse::kNewestFirst : plan::Reuse::kWholeChunks);
    if (i == 0 ? has_spans : has_spans && random() % 2 == 0) add_spans(builder, random);
  }
  if (random() % 4 != 0) add_real_path(builder, random, groups);
  add_random_states(builder, random, groups, modules);
  std::vector<std::byte> bytes = builder.bytes();
  // With spans, groups are elsewhere in the file.
  for (uint32_t i = 0; i < groups && !has_spans; ++i) set_layout(bytes, i, random);
  const uint32_t limit = kLimits[random() % std::size(kLimits)];
  std::memcpy(bytes.data() + offsetof(Header, max_object), &limit, sizeof limit);
  // For any program, or for this one, which is module 0.
  const auto executable = static_cast<uint32_t>(random() % 2);
  std::memcpy(bytes.data() + offsetof(Header, executable), &executable, sizeof executable);
  PlanBuilder::seal(bytes);
  return input_of(bytes);
}

Input mutate_plan(const Input& plan, Random& random) {
  Input changed = plan;
  for (uint64_t left = 1 + random() % 4; left != 0; --left) change(changed, random);
  if (random() % 8 != 0) repair(changed, random);
  return changed;
}

}  // namespace halo::fuzz
