// The groups of the runtime, if it is preloaded.
#pragma once

#include <dlfcn.h>

#include "base/old_c_library.h"
#include "base/runtime_abi.h"

namespace halo::litter {

struct Groups {
  decltype(&halo_group_count) count = nullptr;
  decltype(&halo_allocate_in_group) allocate = nullptr;
  decltype(&halo_group_of_request) group_of_request = nullptr;

  // How many groups the plan has; 0 if there is no runtime or it is inactive.
  uint32_t number() const { return count != nullptr ? count() : 0; }
};

inline Groups find_groups() {
#define HALO_FIND(name) reinterpret_cast<decltype(&name)>(halo::find_symbol(RTLD_DEFAULT, #name))
  return {HALO_FIND(halo_group_count), HALO_FIND(halo_allocate_in_group),
          HALO_FIND(halo_group_of_request)};
#undef HALO_FIND
}

}  // namespace halo::litter
