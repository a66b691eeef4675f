// Validates compact plans: a damaged file must never crash the program.
#include "plan/plan_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/crc32.h"
#include "base/old_c_library.h"

namespace halo::plan {
namespace {

bool counts_fit(const Header& h, size_t size) {
  if (h.modules > kMaxModules || h.groups > kMaxGroups || h.states > kMaxStates) return false;
  if (h.sites > kMaxSites || h.conjunctions > kMaxConjunctions) return false;
  if (h.checked_modules > kMaxModules || h.relaxations > kMaxRelaxations) return false;
  const size_t want =
      sizeof(Header) + h.modules * sizeof(Module) + h.groups * sizeof(Group) +
      h.states * sizeof(State) + h.sites * sizeof(Site) + h.conjunctions * sizeof(Conjunction) +
      h.checked_modules * sizeof(CheckedModule) + h.relaxations * sizeof(Relaxation) +
      (h.version < kHintVersion ? 0 : sizeof(HintCounts));
  return want == size;
}

constexpr size_t kMaxFile =
    sizeof(Header) + kMaxModules * sizeof(Module) + kMaxGroups * sizeof(Group) +
    kMaxStates * sizeof(State) + kMaxSites * sizeof(Site) + kMaxConjunctions * sizeof(Conjunction) +
    kMaxModules * sizeof(CheckedModule) + kMaxRelaxations * sizeof(Relaxation) + sizeof(HintCounts);

constexpr const char* kUnknownFlag = "the plan has an unknown flag";
constexpr const char* kUnknownField = "the plan has an unknown field";

// Fields of the header that an older version cannot have.
const char* check_version(const Header& h) {
  const bool older = h.version < kCheckedVersion;
  if ((h.flags & ~(older ? kOldHeaderFlags : kHeaderFlags)) != 0) return kUnknownFlag;
  if (older && (h.checked_modules != 0 || h.relaxations != 0)) return kUnknownField;
  const bool selects = h.version == kSelectorVersion || (h.flags & kHeaderSelectors) != 0;
  return !selects && (h.sites != 0 || h.conjunctions != 0) ? kUnknownField : nullptr;
}

const char* check_modules(const PlanView& view) {
  for (const Module& m : view.modules) {
    if (m.build_id_length == 0 || m.build_id_length > kMaxBuildId)
      return "the plan has a module without a build-id";
    if (m.layout != 0 && view.header->version < kDigestVersion) return kUnknownField;
  }
  return nullptr;
}

const char* check_spans(const Group& g) {
  const uint64_t ring = g.starts & ~kRingDensity, density = g.starts & kRingDensity;
  const bool confined = (g.flags & kGroupConfined) != 0;
  if ((g.flags & kGroupMasked) != 0) return "the plan has a group with spans and a mask";
  if (ring == 0 ? confined : ring < kMinRing || ring > kMaxRing)
    return "the plan has a ring of an impossible size";
  return density > kMaxDensity ? "the plan has a page with too many lines" : nullptr;
}

const char* check_layout(const Group& g) {
  const bool masked = (g.flags & kGroupMasked) != 0, packed = (g.flags & kGroupPacked) != 0;
  const uint32_t way = (g.flags & kGroupWay) >> kGroupWayBit;
  const bool line_start = (g.flags & kGroupLineStart) != 0;
  const bool stepping = (g.flags & kGroupStepping) != 0;
  if (stepping && !masked) return "the plan has a group that steps without a mask";
  if ((masked || packed || line_start) && (g.flags & kGroupBySize) == 0)
    return "the plan has a layout of single-size pages for a group without them";
  if ((packed && (masked || line_start)) || (stepping && line_start))
    return "the plan has two layouts for a group";
  if ((g.flags & kGroupSpans) != 0) {
    const char* problem = check_spans(g);
    return problem == nullptr && way != 0 ? kUnknownField : problem;
  }
  if ((g.flags & kGroupConfined) != 0) return "the plan confines a group without spans";
  if (!masked) return g.starts == 0 && way == 0 ? nullptr : kUnknownField;
  if (g.starts == 0) return "the plan has a group whose blocks may start nowhere";
  return way < kMinWay || way > kMaxWay ? "the plan has a way of an impossible size" : nullptr;
}

}  // namespace

const char* check_group(const Group& group, uint32_t known_flags) {
  if (group.reuse > Reuse::kWholeChunks) return "the plan has an unknown reuse policy";
  return (group.flags & ~known_flags) != 0 ? kUnknownFlag : check_layout(group);
}

namespace {

uint32_t known_group_flags(uint32_t version) {
  if (version < kLayoutVersion) return kOldGroupFlags;
  return version < kSpanVersion ? kGroupFlags & ~kGroupSpanFlags : kGroupFlags;
}

const char* check_groups(const PlanView& view) {
  const uint32_t known = known_group_flags(view.header->version);
  for (const Group& g : view.groups) {
    if (const char* problem = check_group(g, known)) return problem;
  }
  return nullptr;
}

// A saved register must lie between the two return addresses.
bool saved_inside(const State& s) {
  return s.rbp_below > 0 && s.rbp_below % 8 == 0 &&
         (s.rule != Rule::kConstant || s.rbp_below < s.step);
}

const char* check_states(const PlanView& view) {
  for (size_t i = 0; i < view.states.size(); ++i) {
    const State& s = view.states[i];
    const bool decided = s.verdict != kVerdictUndecided && s.verdict != kVerdictForward;
    if (decided && s.verdict >= view.groups.size()) return "the plan names a group it lacks";
    if (s.rule > Rule::kFramePointer) return "the plan has an unknown walk rule";
    if (s.alignment > 64 || (s.alignment & (s.alignment - 1)) != 0)
      return "the plan requires an impossible alignment";
    if ((s.flags & ~kStateFlags) != 0) return kUnknownFlag;
    if (s.reserved != 0) return kUnknownField;
    if (i == 0) {
      if (decided) return "the plan decides before it has seen a caller";
      if (s.parent != 0 || s.offset != 0) return "the plan's states are out of order";
      continue;
    }
    if (s.parent >= i) return "the plan's states are out of order";
    if (s.module >= view.modules.size()) return "the plan names a module it lacks";
    if (s.offset >= kMaxOffset) return "the plan names an address that no program has";
    // A constant step must lead up the stack, else the walk would not end.
    if (s.rule == Rule::kConstant && (s.step < 8 || s.step > kMaxStep || s.step % 8 != 0))
      return "the plan has a step that leads nowhere";
    if (s.rule == Rule::kFramePointer && s.step % 8 != 0)
      return "the plan has a step that leads nowhere";
    if ((s.flags & kStateRestoresRbp) != 0 && !saved_inside(s))
      return "the plan restores a register from nowhere";
  }
  return nullptr;
}

bool has_no_walk(const PlanView& view) {
  return view.states.size() == 1 && view.states[0].verdict == kVerdictForward;
}

const char* check_sites(const PlanView& view) {
  for (const Site& s : view.sites) {
    if (s.module >= view.modules.size()) return "the plan names a module it lacks";
    if ((s.flags & ~kSiteFlags) != 0) return kUnknownFlag;
    if (s.reserved != 0) return kUnknownField;
    if (s.offset < kCallBytes || s.offset >= kMaxOffset)
      return "the plan names an address that no program has";
    if (s.step > kMaxStep || s.step % 8 != 0) return "the plan has a step that leads nowhere";
  }
  return nullptr;
}

const char* check_conjunctions(const PlanView& view) {
  for (const Conjunction& c : view.conjunctions) {
    if (c.group >= view.groups.size()) return "the plan names a group it lacks";
    if (c.alignment > 16 || (c.alignment & 7) != 0)
      return "the plan requires an impossible alignment";
    if (c.count == 0 || c.count > kMaxConjunctionSites)
      return "the plan has a conjunction of no sites, or of too many";
    if (c.reserved != 0) return kUnknownField;
    for (uint32_t i = 0; i < kMaxConjunctionSites; ++i)
      if (i < c.count ? c.sites[i] >= view.sites.size() : c.sites[i] != kNoSite)
        return "the plan names a call site it lacks";
  }
  return nullptr;
}

const char* check_selectors(const PlanView& view) {
  if (!view.selects()) return nullptr;
  if (!has_no_walk(view)) return "the plan has selectors and states";
  if (view.draws_pools()) return "the plan has selectors and draws groups at random";
  if (const char* problem = check_sites(view)) return problem;
  return check_conjunctions(view);
}

const char* check_checked_modules(const PlanView& view) {
  uint64_t relaxations = 0;
  for (const CheckedModule& m : view.checked_modules) {
    if (m.build_id_length == 0 || m.build_id_length > kMaxBuildId)
      return "the plan has a module without a build-id";
    if (m.code != 0 && view.header->version < kDigestVersion) return kUnknownField;
    relaxations += m.relaxations;
  }
  if (relaxations != view.relaxations.size()) return "the plan's relaxations are of no module";
  for (const Relaxation& r : view.relaxations) {
    if (r.offset >= kMaxOffset) return "the plan names an address that no program has";
    if (r.reserved != 0 || r.reserved2 != 0) return kUnknownField;
  }
  return nullptr;
}

// A plan with random pools does not use callers, so it must not describe any.
const char* check_random_pools(const PlanView& view) {
  if (!view.draws_pools()) return nullptr;
  const State& root = view.states[0];
  if (view.groups.empty()) return "the plan draws from groups that it lacks";
  if (!has_no_walk(view)) return "the plan draws groups at random and has states";
  if (view.modules.size() != (view.header->executable == 0 ? 0 : 1))
    return "the plan draws groups at random and names modules";
  return root.alignment > 16 ? "the plan requires an impossible alignment" : nullptr;
}

}  // namespace

const char* validate(std::span<const std::byte> file, PlanView& view) {
  if (file.empty()) return "the plan is empty";
  if (file.size() < sizeof(Header)) return "the plan is cut short";
  const auto* header = reinterpret_cast<const Header*>(file.data());
  if (std::memcmp(header->magic, kMagic, sizeof kMagic) != 0) return "the file is not a plan";
  if (header->version > kVersion) return "the plan is of a newer version than this runtime reads";
  if (header->version < kOldestVersion) return "the plan is of an unknown version";
  if (const char* problem = check_version(*header)) return problem;
  const std::byte* at = file.data() + sizeof(Header);
  HintCounts hints{};
  if (header->version >= kHintVersion) {
    if (file.size() < sizeof(Header) + sizeof(HintCounts)) return "the plan is cut short";
    std::memcpy(&hints, at, sizeof hints);
    at += sizeof hints;
  }
  if (hints.rules != 0) return "the plan has rules for hints, which this runtime does not serve";
  if (header->file_size > file.size()) return "the plan is cut short";
  if (header->file_size != file.size() || !counts_fit(*header, file.size()))
    return "the plan's counts do not match its size";
  if (header->states == 0) return "the plan has no states";
  if (header->max_object > kMaxObjectLimit) return "the plan's object limit is too large";
  if (header->executable > header->modules) return "the plan is for a module it lacks";
  if (base::crc32(file.subspan(sizeof(Header))) != header->crc) return "the plan is damaged";
  if (hints.keys != 0 || hints.operations != 0 || hints.reserved != 0) return kUnknownField;

  PlanView found;
  found.header = header;
  found.modules = {reinterpret_cast<const Module*>(at), header->modules};
  at += found.modules.size_bytes();
  found.groups = {reinterpret_cast<const Group*>(at), header->groups};
  at += found.groups.size_bytes();
  found.states = {reinterpret_cast<const State*>(at), header->states};
  at += found.states.size_bytes();
  found.sites = {reinterpret_cast<const Site*>(at), header->sites};
  at += found.sites.size_bytes();
  found.conjunctions = {reinterpret_cast<const Conjunction*>(at), header->conjunctions};
  at += found.conjunctions.size_bytes();
  found.checked_modules = {reinterpret_cast<const CheckedModule*>(at), header->checked_modules};
  at += found.checked_modules.size_bytes();
  found.relaxations = {reinterpret_cast<const Relaxation*>(at), header->relaxations};
  if (const char* problem = check_modules(found)) return problem;
  if (const char* problem = check_groups(found)) return problem;
  if (const char* problem = check_states(found)) return problem;
  if (const char* problem = check_selectors(found)) return problem;
  if (const char* problem = check_random_pools(found)) return problem;
  if (const char* problem = check_checked_modules(found)) return problem;
  view = found;
  return nullptr;
}

namespace {

// The beginning of a file.
struct Beginning {
  Header header;
  HintCounts hints;  // from version 5 on
};

// The number of bytes to read from a file of that size. Only the beginning of a file that is not a
// plan, is too short, or has rules for hints; 0 if its size or counts do not match.
size_t bytes_worth_reading(const Beginning& begun, size_t size) {
  const Header& header = begun.header;
  const bool known =
      std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.version <= kVersion;
  if (!known || size < sizeof begun) return size < sizeof begun ? size : sizeof begun;
  const bool has_rules = header.version >= kHintVersion && begun.hints.rules != 0;
  if (header.file_size > size || has_rules) return sizeof begun;
  return header.file_size == size && counts_fit(header, size) ? size : 0;
}

}  // namespace

// Reads a copy instead of mapping it: a plan may be overwritten in place while the program runs.
const char* load_plan(const char* path, PlanView& view) {
  // Opening a FIFO or a terminal must not block the program.
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return "the plan cannot be opened";
  struct stat info;
  if (!read_status(fd, info) || !S_ISREG(info.st_mode)) {
    close(fd);
    return "the plan is not a file";
  }
  if (info.st_size == 0) {
    close(fd);
    return "the plan is empty";
  }
  if (static_cast<size_t>(info.st_size) > kMaxFile) {
    close(fd);
    return "the plan is larger than any can be";
  }
  Beginning beginning{};
  const ssize_t begun = pread(fd, &beginning, sizeof beginning, 0);
  const size_t size =
      begun < 0 ? 0 : bytes_worth_reading(beginning, static_cast<size_t>(info.st_size));
  if (size == 0) {
    close(fd);
    return begun < 0 ? "the plan cannot be read" : "the plan's counts do not match its size";
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    close(fd);
    return "there is no memory for the plan";
  }
  size_t done = 0;
  while (done < size) {
    const ssize_t n = read(fd, static_cast<char*>(memory) + done, size - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(fd);
  const char* problem = validate({static_cast<const std::byte*>(memory), done}, view);
  if (problem != nullptr) munmap(memory, size);
  return problem;
}

}  // namespace halo::plan
