// The compact plan's layout, as docs/plan-format.md defines it.
#pragma once

#include <cstdint>

namespace halo::plan {

inline constexpr char magic[8] = {'H', 'A', 'L', 'O', 'P', 'L', 'A', 'N'};
inline constexpr uint32_t version = 7;  // first with digests of modules
inline constexpr uint32_t oldest_version = 1;
inline constexpr uint32_t selector_version = 2;  // uses selectors, without a flag for them
inline constexpr uint32_t checked_version = 3;   // first with checked modules
inline constexpr uint32_t layout_version = 4;    // first with flags of page layouts
inline constexpr uint32_t hint_version = 5;      // first with HintCounts
inline constexpr uint32_t span_version = 6;      // first with groups that have spans
inline constexpr uint32_t digest_version = 7;
inline constexpr uint32_t max_states = 1u << 24;
inline constexpr uint32_t max_groups = 4096;
inline constexpr uint32_t max_modules = 4096;
inline constexpr uint32_t max_build_id = 32;
inline constexpr uint32_t max_sites = 256;
inline constexpr uint32_t max_conjunctions = 1u << 16;
inline constexpr uint32_t max_conjunction_sites = 12;
inline constexpr uint32_t max_object_limit = 1u << 16;
inline constexpr int32_t max_step = 1 << 20;  // bytes: a larger frame ends the walk
inline constexpr uint32_t max_relaxations = 1u << 20;
inline constexpr uint64_t max_offset = 1ull << 47;  // above all addresses of programs

inline constexpr uint64_t call_bytes = 5;  // of a call that can be redirected

inline constexpr uint16_t no_site = 0xFFFF;
inline constexpr uint16_t verdict_undecided = 0xFFFF;
inline constexpr uint16_t verdict_forward = 0xFFFE;

enum HeaderFlag : uint32_t { header_huge_pages = 1, header_random_pools = 2, header_selectors = 4 };
// Layouts of single-size pages: blocks start in the slots of `starts` only, without spreading, or
// at a cache line. The way of the mask, as log2 of its bytes, is in the bits of `group_way`.
// `group_stepping` with a mask: all such groups share one heap, which looks for a permitted start
// at each allocation.
// `group_spans`: objects above max_object_limit have spans. `starts` then has the bytes of the
// group's ring, and in its lower bits (ring_density) the lines that a visit of a page touches, in
// sixteenths; both may be 0. `group_confined`: the spans reuse the ring.
enum GroupFlag : uint32_t {
  group_huge_pages = 1,
  group_by_size = 2,
  group_masked = 4,
  group_packed = 8,
  group_line_start = 16,
  group_stepping = 32,
  group_spans = 64,
  group_confined = 128,
  group_way = 0xff00
};
inline constexpr uint32_t group_way_bit = 8;
inline constexpr uint32_t min_way = 12;
inline constexpr uint32_t max_way = 15;  // half a page: a block of half a page fits behind any slot
enum StateFlag : uint8_t { state_restores_rbp = 1 };
enum SiteFlag : uint32_t { site_immediate = 1 };  // it calls the allocator itself
inline constexpr uint32_t old_header_flags = header_huge_pages | header_random_pools;
inline constexpr uint32_t header_flags = old_header_flags | header_selectors;
inline constexpr uint32_t old_group_flags = group_huge_pages | group_by_size;
inline constexpr uint32_t group_layout_flags =
    group_masked | group_packed | group_line_start | group_stepping | group_way;
inline constexpr uint32_t group_span_flags = group_spans | group_confined;
inline constexpr uint32_t group_flags = old_group_flags | group_layout_flags | group_span_flags;
inline constexpr uint64_t min_ring = 1u << 17;  // bytes
inline constexpr uint64_t max_ring = 1u << 30;
inline constexpr uint64_t ring_density = 4095;
inline constexpr uint64_t max_density = 64 * 16;
inline constexpr uint32_t state_flags = state_restores_rbp;
inline constexpr uint32_t site_flags = site_immediate;

// The rule that leads from one return address's slot to the next.
enum class Rule : uint8_t { end = 0, constant = 1, frame_pointer = 2 };

// The reuse of freed objects.
enum class Reuse : uint32_t { newest_first = 0, whole_chunks = 1 };

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
  uint8_t build_id[max_build_id];
  uint32_t build_id_length;
  uint32_t layout;  // digest of its layout, from version 7 on; 0: unknown
};
static_assert(sizeof(Module) == 40);

struct Group {
  uint32_t flags;
  Reuse reuse;
  uint64_t starts;  // with group_masked: a bit for each permitted slot; with group_spans: the
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
  uint16_t sites[max_conjunction_sites];  // unused entries: no_site
};
static_assert(sizeof(Conjunction) == 32);

// A module whose code works with blocks at multiples of eight once `relaxations` of its
// instructions are relaxed. Their entries follow those of earlier modules.
struct CheckedModule {
  uint8_t build_id[max_build_id];
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
