// The layout of a trace file or stream (docs/trace-format.md): frames, little-endian.
#pragma once

#include <cstdint>

namespace halo::trace {

inline constexpr char kMagic[8] = {'H', 'A', 'L', 'O', 'T', 'R', 'C', '\n'};
inline constexpr uint32_t kVersion = 1;

// At offset 0; frames follow until the end.
struct FileHead {
  char magic[8];
  uint32_t version;
  uint32_t reserved;  // 0
};
static_assert(sizeof(FileHead) == 16);

enum class FrameKind : uint32_t {
  kMetadata = 1,  // first: JSON, what is traced and where
  kModule = 2,    // sites of a module, before any event that refers to them: ModuleHead
  kMaps = 3,      // the code mappings from now on: JSON, see docs/trace-format.md
  kEvents = 4,    // of one thread: packed, see packing.h
  kRound = 5,     // RoundMark: all events with a lower key are written
  kEnd = 6,       // EndNote: the last frame
};

// Set in `thread` of events that the background packer has packed: each packer predicts from its
// own blocks.
inline constexpr uint32_t kBackgroundPacker = 1U << 31;

// The numbers of threads are below this: they are used again.
inline constexpr uint32_t kMaxThreads = 1U << 16;

struct FrameHead {
  FrameKind kind;
  uint32_t thread;  // of kEvents, perhaps with kBackgroundPacker; else 0
  uint64_t bytes;   // of the payload, which follows
  uint64_t check;   // XXH64 of the payload, with the seed kind + (thread << 32)
};
static_assert(sizeof(FrameHead) == 24);

// The path and the build-id (hex) follow, without terminators, then the three sections as they were
// in memory, together as one zstd frame. Addresses are those of the running program.
struct ModuleHead {
  uint64_t first_site;  // number of the module's first site; numbers start with kMarkers
  uint64_t sites, sites_bytes;
  uint64_t types, types_bytes;
  uint64_t strings, strings_bytes;
  uint32_t path_bytes, build_id_bytes;
};
static_assert(sizeof(ModuleHead) == 64);

struct RoundMark {
  uint64_t limit_key;
};

enum class Ending : uint32_t {
  kComplete = 1,  // the program ended, or its thread of this trace did
  kSignal = 2,    // a fatal signal: `detail` is its number
  kNoSpace = 3,   // writing failed: `detail` is the errno
  kExec = 4,      // the program was replaced by exec
};

struct EndNote {
  Ending ending;
  uint32_t detail;
  uint64_t written;  // events in this trace
  uint64_t lost;     // events that were logged but are not in the trace
};
static_assert(sizeof(EndNote) == 24);

}  // namespace halo::trace
