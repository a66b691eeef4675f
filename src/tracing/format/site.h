// The data that the LLVM pass stores in an instrumented program: the source place of each event,
// and the accessed types.
#pragma once

#include <cstdint>

namespace halo::trace {

inline constexpr uint16_t kSiteVersion = 1;
// Plain data in three ELF sections. The pass writes them, the logging library copies them into the
// trace, and the trace reader resolves them.
inline constexpr const char* kSiteSection = "halo_sites";      // Sites
inline constexpr const char* kTypeSection = "halo_types";      // TypeNotes, each followed by its
                                                               // fields
inline constexpr const char* kStringSection = "halo_strings";  // strings, each terminated by NUL

// Bytes from this field itself to its target; 0: none or unknown.
using Reference = int32_t;

enum class SiteKind : uint8_t {
  kUnknown = 0,
  kLoad = 1,        // word1: address, word2: the value, zero-extended; of a vector the low 8 bytes
  kStore = 2,       // likewise
  kUpdate = 3,      // an atomic read-modify-write: word2 is the value read
  kReadRange = 4,   // the source of a copy: word1: address, word2: bytes
  kWriteRange = 5,  // the destination of a copy or a fill: likewise
  kEnter = 6,       // of a function: word1: address of the return address's slot, word2: the return
                    // address
  kExit = 7,        // word1: the same address; missing if an exception or longjmp leaves the
                    // function
  kAllocation = 8,  // word1: address, word2: bytes per element; a kCount record follows
};

// 48 bytes, aligned to 8.
struct Site {
  SiteKind kind;
  uint8_t alignment_log2;  // alignment that the instruction requires; 0: none
  uint16_t size;           // bytes accessed; 0: varies
  uint32_t line;           // 0: unknown, as the column
  uint32_t column;
  Reference file;         // string: as passed to the compiler, with its directory in front
  Reference function;     // string: demangled
  Reference variable;     // string, see docs/tracing.md: "node.next", "total", "graph.offsets[]"
  Reference type;         // string: the accessed or allocated type, as in the source
  Reference owner;        // TypeNote of the class, structure or union that contains the field
  uint32_t owner_offset;  // bytes of the access from the start of its owner
  uint32_t element_size;  // of allocations: bytes of `type`, 0: varies
  uint32_t reserved[2];
};
static_assert(sizeof(Site) == 48);

// A field of a class, structure or union. The fields of a nested one are in its own note.
struct FieldNote {
  Reference name;   // string; empty for a base class or a nameless member
  Reference type;   // string
  uint32_t offset;  // bytes; of a bit-field the byte in which it starts
  uint32_t size;    // bytes
};

enum class TypeNoteKind : uint16_t { kStructure = 1, kClass = 2, kUnion = 3 };

// Followed by its fields, in ascending order of offset.
struct TypeNote {
  Reference name;  // string, with namespaces and template arguments; empty if nameless
  uint32_t size;   // bytes
  TypeNoteKind kind;
  uint16_t fields;
  uint32_t line;   // of its declaration
  Reference file;  // of its declaration
};
static_assert(sizeof(TypeNote) == 20 && sizeof(FieldNote) == 16);

// The argument of a module's constructor to the library: the three sections as the linker joined
// them.
struct ModuleNote {
  uint16_t version;
  uint16_t site_size;
  uint32_t reserved;
  const char *sites, *sites_end;
  const char *types, *types_end;
  const char *strings, *strings_end;
};

}  // namespace halo::trace
