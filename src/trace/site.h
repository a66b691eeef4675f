// What the LLVM pass leaves in an instrumented program: where each event comes from in the source,
// and the types that the accesses go to. Plain data in three ELF sections; the pass writes it, the
// logging runtime copies it into the trace, the trace's reader resolves it.
#pragma once

#include <cstdint>

namespace halo::trace {

inline constexpr uint16_t kSiteVersion = 1;
inline constexpr const char* kSiteSection = "halo_sites";      // Sites, one behind the other
inline constexpr const char* kTypeSection = "halo_types";      // TypeNotes, each with its fields
inline constexpr const char* kStringSection = "halo_strings";  // strings, each ends with NUL

// Bytes from this field itself to what it refers to; 0: nothing, not known.
using Reference = int32_t;

enum class SiteKind : uint8_t {
  kUnknown = 0,
  kLoad = 1,        // word1: address, word2: the value, zero-extended; of a vector the low 8 bytes
  kStore = 2,       // the same
  kUpdate = 3,      // an atomic read-modify-write: word2 is the value that it read
  kReadRange = 4,   // the source of a copy: word1: address, word2: bytes
  kWriteRange = 5,  // the destination of a copy or a fill: the same
  kEnter = 6,       // of a function: word1: address of the return address's slot, word2: the latter
  kExit = 7,        // word1: the same address; not where an exception or longjmp leaves it
  kAllocation = 8,  // word1: address, word2: bytes an element; a kCount record follows
};

// 48 bytes, aligned to 8.
struct Site {
  SiteKind kind;
  uint8_t alignment_log2;  // that the instruction demands of the address; 0: none
  uint16_t size;           // bytes accessed; 0 where it varies
  uint32_t line;           // 0: not known; so the column
  uint32_t column;
  Reference file;         // string: as the compiler was given it, with its directory in front
  Reference function;     // string: readable, where the language mangles names
  Reference variable;     // string, see docs/tracing.md: "node.next", "total", "graph.offsets[]"
  Reference type;         // string: the type of what is accessed or allocated, as in the source
  Reference owner;        // TypeNote of the class, structure or union that holds the field
  uint32_t owner_offset;  // bytes of the access from the beginning of its owner
  uint32_t element_size;  // of allocations: bytes of `type`, 0 where it varies
  uint32_t reserved[2];
};
static_assert(sizeof(Site) == 48);

// A field of a class, structure or union; of a nested one, its own fields are in its own note.
struct FieldNote {
  Reference name;   // string; empty for a base class or a nameless member
  Reference type;   // string
  uint32_t offset;  // bytes; of a bit-field the byte that it begins in
  uint32_t size;    // bytes
};

enum class TypeNoteKind : uint16_t { kStructure = 1, kClass = 2, kUnion = 3 };

// Its fields follow it, ascending by offset.
struct TypeNote {
  Reference name;  // string, with namespaces and template arguments; empty where it has none
  uint32_t size;   // bytes
  TypeNoteKind kind;
  uint16_t fields;
  uint32_t line;   // of its declaration
  Reference file;  // of its declaration
};
static_assert(sizeof(TypeNote) == 20 && sizeof(FieldNote) == 16);

// What a module's constructor hands to the runtime: the three sections as the linker joined them.
struct ModuleNote {
  uint16_t version;
  uint16_t site_size;
  uint32_t reserved;
  const char *sites, *sites_end;
  const char *types, *types_end;
  const char *strings, *strings_end;
};

}  // namespace halo::trace
