// The module that an address lies in, by the bounds of modules. Cheaper than dladdr, which compares
// the address with the symbols of the module.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace halo {

struct ModuleBounds {
  uintptr_t begin = 0, end = 0;
  bool is_first = false;  // in the list: the program

  bool contains(const void* p) const {
    return reinterpret_cast<uintptr_t>(p) - begin < end - begin;
  }
};

inline ModuleBounds bounds_of(const dl_phdr_info& module) {
  ModuleBounds bounds{UINTPTR_MAX, 0};
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t at = module.dlpi_addr + part.p_vaddr;
    bounds.begin = std::min(bounds.begin, at);
    bounds.end = std::max(bounds.end, at + part.p_memsz);
  }
  return bounds;
}

// The module with that address; empty if there is none. Takes the lock of the linker's list.
inline ModuleBounds module_of(const void* address) {
  struct Search {
    const void* address;
    ModuleBounds found;
    bool is_first = true;
  } search{address, {}};
  const auto inspect = [](dl_phdr_info* info, size_t, void* data) {
    auto& of = *static_cast<Search*>(data);
    ModuleBounds bounds = bounds_of(*info);
    bounds.is_first = of.is_first;
    of.is_first = false;
    if (bounds.begin >= bounds.end || !bounds.contains(of.address)) return 0;
    of.found = bounds;
    return 1;
  };
  dl_iterate_phdr(inspect, &search);
  return search.found;
}

// Whether one module has both addresses.
inline bool same_module(const void* one, const void* other) {
  return one != nullptr && module_of(one).contains(other);
}

}  // namespace halo
