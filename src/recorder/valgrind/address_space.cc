// Mappings beyond the part of the address space that the core manages, by the linker's --wrap.
//
// The core places all mappings of the program below 64 GiB (3.19). When that is full, it uses up
// the 64 GiB that it needs itself, and then refuses. Programs reserve more: databases that map
// their files, heaps of virtual machines, stacks of thousands of threads. The core accepts a
// mapping above its part if the program asks for that very address, and gives the address back when
// the program unmaps it. So large mappings, and those that the core refuses, are requested at
// addresses there, unless the program wishes for a place that is free.
#include <errno.h>
#include <sys/mman.h>

#include "recorder/valgrind/api.h"

namespace {

constexpr Addr kPage = 4096;
// Above the core's part in all of its releases, and below the kernel's mappings in both of its
// layouts: with an unlimited stack they begin at a third of the address space, 42 TiB.
constexpr Addr kBegin = Addr{16} << 40, kEnd = Addr{40} << 40;
constexpr SizeT kLarge = 1 << 30;
constexpr Addr kHugePage = 2 << 20;  // large mappings are aligned to it, as by the kernel

// The first free place above the core's part; 0 if there is none.
Addr place_for(SizeT bytes) {
  const Addr alignment = bytes < kHugePage ? kPage : kHugePage;
  for (Addr at = kBegin; at < kEnd && bytes <= kEnd - at;) {
    const NSegment* segment = VG_(am_find_nsegment)(at);
    if (segment == nullptr) return 0;  // all of it is reserved or mapped
    if (segment->kind == SkResvn && bytes - 1 <= segment->end - at) return at;
    at = (segment->end + alignment) & ~(alignment - 1);
  }
  return 0;
}

// Whether the place is free above the core's part, where the core has reserved all that is free.
bool is_free_above(Addr at, SizeT bytes) {
  const NSegment* segment = VG_(am_find_nsegment)(at);
  return segment != nullptr && segment->kind == SkResvn && segment->smode == SmFixed &&
         bytes - 1 <= segment->end - at;
}

bool may_be_elsewhere(Addr address, SizeT bytes, UWord flags, Off64T offset) {
  const UWord kept = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
  return bytes != 0 && ((address | Addr(offset)) & (kPage - 1)) == 0 && (flags & kept) == 0;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for a wrapped function
// From priv_syswrap-generic.h: performs the program's mmap.
SysRes __real_vgModuleLocal_generic_PRE_sys_mmap(ThreadId, UWord, UWord, UWord, UWord, UWord,
                                                 Off64T);
SysRes __wrap_vgModuleLocal_generic_PRE_sys_mmap(ThreadId, UWord, UWord, UWord, UWord, UWord,
                                                 Off64T);

SysRes __wrap_vgModuleLocal_generic_PRE_sys_mmap(ThreadId thread, UWord address, UWord bytes,
                                                 UWord protection, UWord flags, UWord file,
                                                 Off64T offset) {
  const auto map_at = [&](UWord place, UWord how) {
    return __real_vgModuleLocal_generic_PRE_sys_mmap(thread, place, bytes, protection, how, file,
                                                     offset);
  };
  if (!may_be_elsewhere(address, bytes, flags, offset)) return map_at(address, flags);
  const SizeT whole = (bytes + kPage - 1) & ~(kPage - 1);
  // A place that the program wishes for, as the kernel gives it if it is free.
  if (address != 0) {
    const bool is_free = VG_(am_covered_by_single_free_segment)(address, whole);
    if (is_free || is_free_above(address, whole)) {
      const SysRes made = map_at(address, is_free ? flags : flags | MAP_FIXED);
      if (!sr_isError(made)) return made;
    }
  }
  const Addr place = place_for(whole);
  if (place == 0) {
    const SysRes made = map_at(address, flags);
    // The command searches the log for this, as for those of tool.cc.
    if (sr_isError(made)) VG_(umsg)("halo: no room for a mapping\n");
    return sr_isError(made) ? VG_(mk_SysRes_Error)(ENOMEM) : made;
  }
  if (bytes < kLarge) {
    const SysRes made = map_at(address, flags);
    if (!sr_isError(made)) return made;
  }
  return map_at(place, flags | MAP_FIXED);
}

// From priv_aspacemgr.h: ends the process, as one of the core's tables is full.
void __real_vgModuleLocal_am_barf_toolow(const HChar* what);
void __wrap_vgModuleLocal_am_barf_toolow(const HChar* what);

void __wrap_vgModuleLocal_am_barf_toolow(const HChar* what) {
  VG_(umsg)("halo: a full table: %s\n", what);
  __real_vgModuleLocal_am_barf_toolow(what);
}
// NOLINTEND(bugprone-reserved-identifier)
}
