// The build-ids of loaded modules.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

#include "plan/format.h"

namespace halo::runtime {

// The build-id inside the module's own memory; empty if the module has no loaded build-id note.
std::span<const std::uint8_t> build_id_of(const dl_phdr_info& module);

inline bool is_build_of(const plan::Module& module, std::span<const std::uint8_t> build_id) {
  return module.build_id_length == build_id.size() &&
         __builtin_memcmp(module.build_id, build_id.data(), build_id.size()) == 0;
}

}  // namespace halo::runtime
