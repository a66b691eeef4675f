// The compact plan's layout, as docs/plan-format.md defines it.
#pragma once

#include <cstdint>

namespace halo::plan {

inline constexpr char kMagic[8] = {'H', 'A', 'L', 'O', 'P', 'L', 'A', 'N'};
inline constexpr uint32_t kVersion = 7;  // first with digests of modules
inline constexpr uint32_t kOldestVersion = 1;
inline constexpr uint32_t kSelectorVersion = 2;  // uses selectors, without a flag for them
inline constexpr uint32_t kCheckedVersion = 3;   // first with checked modules
inline constexpr uint32_t kLayoutVersion = 4;    // first with flags of page layouts
inline constexpr uint32_t kHintVersion = 5;      // first with HintCounts
inline constexpr uint32_t kSpanVersion = 6;      // first with groups that have spans
inline constexpr uint32_t kDigestVersion = 7;
inline constexpr uint32_t kMaxStates = 1u << 24;
inline constexpr uint32_t kMaxGroups = 4096;
inline constexpr uint32_t kMaxModules = 4096;
inline constexpr uint32_t kMaxBuildId = 32;
inline constexpr uint32_t kMaxSites = 256;
inline constexpr uint32_t kMaxConjunctions = 1u << 16;
inline constexpr uint32_t kMaxConjunctionSites = 12;
inline constexpr uint32_t kMaxObjectLimit = 1u << 16;
inline constexpr int32_t kMaxStep = 1 << 20;  // bytes: a larger frame ends the walk
inline constexpr uint32_t kMaxRelaxations = 1u << 20;
inline constexpr uint64_t kMaxOffset = 1ull << 47;  // above all addresses of programs

inline constexpr uint64_t kCallBytes = 5;  // of a call that can be redirected

inline constexpr uint16_t kNoSite = 0xFFFF;
inline constexpr uint16_t kVerdictUndecided = 0xFFFF;
inline constexpr uint16_t kVerdictForward = 0xFFFE;

enum HeaderFlag : uint32_t { kHeaderHugePages = 1, kHeaderRandomPools = 2, kHeaderSelectors = 4 };
// Layouts of single-size pages: blocks start in the slots of `starts` only, without spreading, or
// at a cache line. The way of the mask, as log2 of its bytes, is in the bits of `kGroupWay`.
// `kGroupStepping` with a mask: all such groups share one heap, which looks for a permitted start
// at each allocation.
// `kGroupSpans`: objects above kMaxObjectLimit have spans. `starts` then has the bytes of the
// group's ring, and in its lower bits (kRingDensity) the lines that a visit of a page touches, in
// sixteenths; both may be 0. `kGroupConfined`: the spans reuse the ring.
enum GroupFlag : uint32_t {
  kGroupHugePages = 1,
  kGroupBySize = 2,
  kGroupMasked = 4,
  kGroupPacked = 8,
  kGroupLineStart = 16,
  kGroupStepping = 32,
  kGroupSpans = 64,
  kGroupConfined = 128,
  kGroupWay = 0xff00
};
inline constexpr uint32_t kGroupWayBit = 8;
inline constexpr uint32_t kMinWay = 12;
inline constexpr uint32_t kMaxWay = 15;  // half a page: a block of half a page fits behind any slot
enum StateFlag : uint8_t { kStateRestoresRbp = 1 };
enum SiteFlag : uint32_t { kSiteImmediate = 1 };  // it calls the allocator itself
inline constexpr uint32_t kOldHeaderFlags = kHeaderHugePages | kHeaderRandomPools;
inline constexpr uint32_t kHeaderFlags = kOldHeaderFlags | kHeaderSelectors;
inline constexpr uint32_t kOldGroupFlags = kGroupHugePages | kGroupBySize;
inline constexpr uint32_t kGroupLayoutFlags =
    kGroupMasked | kGroupPacked | kGroupLineStart | kGroupStepping | kGroupWay;
inline constexpr uint32_t kGroupSpanFlags = kGroupSpans | kGroupConfined;
inline constexpr uint32_t kGroupFlags = kOldGroupFlags | kGroupLayoutFlags | kGroupSpanFlags;
inline constexpr uint64_t kMinRing = 1u << 17;  // bytes
inline constexpr uint64_t kMaxRing = 1u << 30;
inline constexpr uint64_t kRingDensity = 4095;
inline constexpr uint64_t kMaxDensity = 64 * 16;
inline constexpr uint32_t kStateFlags = kStateRestoresRbp;
inline constexpr uint32_t kSiteFlags = kSiteImmediate;

// The rule that leads from one return address's slot to the next.
enum class Rule : uint8_t { kEnd = 0, kConstant = 1, kFramePointer = 2 };

// The reuse of freed objects.
enum class Reuse : uint32_t { kNewestFirst = 0, kWholeChunks = 1 };

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t crc;
  uint64_t file_size;
  uint32_t modules;
  uint32_t groups;
  uint32_t states;
  uint32_t max_object;
  uint32_t flags;
  uint32_t executable;  // 1 + the only module that the plan is for; 0: any program
  // Only in plans with selectors.
  uint32_t sites;
  uint32_t conjunctions;
  // Only from version 3 on.
  uint32_t checked_modules;
  uint32_t relaxations;
};
static_assert(sizeof(Header) == 64);

// Follows the Header from version 5 on. All are 0: plans with rules for hints are refused.
struct HintCounts {
  uint32_t rules;
  uint32_t keys;
  uint32_t operations;
  uint32_t reserved;
};
static_assert(sizeof(HintCounts) == 16);

struct Module {
  uint8_t build_id[kMaxBuildId];
  uint32_t build_id_length;
  uint32_t layout;  // digest of its layout, from version 7 on; 0: unknown
};
static_assert(sizeof(Module) == 40);

struct Group {
  uint32_t flags;
  Reuse reuse;
  uint64_t starts;  // with kGroupMasked: a bit for each permitted slot; with kGroupSpans: the
                    // ring and the density; else 0
};
static_assert(sizeof(Group) == 16);

struct State {
  uint32_t parent;
  uint32_t module;
  uint64_t offset;
  int32_t step;
  Rule rule;
  uint8_t flags;
  uint16_t verdict;
  int16_t rbp_below;
  uint16_t alignment;
  uint32_t reserved;
};
static_assert(sizeof(State) == 32);

// A call site used by selectors.
struct Site {
  uint32_t module;
  uint32_t flags;
  uint64_t offset;  // of its return address
  uint32_t step;    // from its return address's slot up to its caller's; 0: unknown
  uint32_t reserved;
};
static_assert(sizeof(Site) == 24);

// An allocation belongs to the group while all of these call sites are active.
struct Conjunction {
  uint16_t group;
  uint16_t alignment;
  uint16_t count;
  uint16_t reserved;
  uint16_t sites[kMaxConjunctionSites];  // unused entries: kNoSite
};
static_assert(sizeof(Conjunction) == 32);

// A module whose code works with blocks at multiples of eight once `relaxations` of its
// instructions are relaxed. Their entries follow those of earlier modules.
struct CheckedModule {
  uint8_t build_id[kMaxBuildId];
  uint32_t build_id_length;
  uint32_t relaxations;
  uint64_t code;  // digest of its code, from version 7 on; 0: unknown
};
static_assert(sizeof(CheckedModule) == 48);

// A byte of code whose change makes an aligned vector move unaligned.
struct Relaxation {
  uint64_t offset;  // from the module's load bias
  uint8_t before;
  uint8_t after;
  uint16_t reserved;
  uint32_t reserved2;
};
static_assert(sizeof(Relaxation) == 16);

}  // namespace halo::plan
