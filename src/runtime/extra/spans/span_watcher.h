// How libhalo-watch.so follows the runtime's spans. The two are separate libraries.
#pragma once

#include <cstddef>
#include <cstdint>

// The state of a span, in a word of the runtime: the lower bits are one of HaloSpanState, the
// others count the spans that have been there, so that a late command is recognised.
enum HaloSpanState { kHaloSpanIgnored, kHaloSpanAnnounced, kHaloSpanWatched };
enum { kHaloSpanStateBits = 2 };

struct HaloSpanWatcher {
  // A span of `bytes` bytes at `p` was allocated for a group, and is announced in `*state`. Called
  // in the thread that allocates, before the program has the pointer.
  void (*allocated)(void* p, size_t bytes, uint32_t group, uint32_t* state);
  // A span that is not ignored is about to be freed. It must be ignored when this returns.
  void (*freeing)(void* p, uint32_t* state);
};

struct HaloWatchedGroup {
  uint64_t ring;     // bytes; 0: the group cannot be confined
  uint32_t density;  // lines that a visit of a page touches, in sixteenths; 0: unknown
  uint8_t has_spans;
  uint8_t is_confined;
};

struct HaloRingPart {
  uintptr_t begin;
  size_t bytes;  // 0: nothing
};

struct HaloSpanControl {
  uint32_t groups;
  HaloWatchedGroup (*group)(uint32_t number);
  // The addresses of all blocks of group heaps: the first one, and the bytes.
  void (*arena)(uintptr_t* begin, size_t* bytes);
  // Likewise, of all spans.
  void (*spans)(uintptr_t* begin, size_t* bytes);
  // Whether new spans of the group are confined. Any thread.
  void (*confine)(uint32_t number, uint8_t confined);

  // Rings whose memory comes from the watch, of the groups that have one.

  // Rings have no memory until it is supplied; of their free memory they keep `kept` bytes. To be
  // called in HaloWatchBegin only.
  void (*colour_rings)(size_t kept);
  // The group's ring. Nothing: there is no room for it, or it is being changed.
  HaloRingPart (*ring)(uint32_t number);
  // A part of the group's ring that needs memory, of at most `most` bytes, as objects did not fit.
  // Nothing: none does. The watch has to supply it.
  HaloRingPart (*take_empty)(uint32_t number, size_t most);
  // The first `bytes` bytes of that part are filled, maybe none; others are discarded. Returns 0 if
  // the ring is being changed: the caller has to repeat it.
  uint8_t (*supply)(uint32_t number, uintptr_t begin, size_t bytes);
};

// libhalo-watch.so has this function. The runtime calls it once if a group of its plan has spans,
// before other threads exist. Spans are announced to the result, which stays valid; null: there is
// no watch.
using HaloWatchBegin = const HaloSpanWatcher* (*)(const HaloSpanControl* control);
inline constexpr const char* kHaloWatchBegin = "halo_watch_begin";  // its name
