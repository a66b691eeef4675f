// The build-ids of loaded modules, and their comparison with those of the plan.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

#include "plan/format.h"

namespace halo::runtime {

// The build-id inside the module's own memory; empty if the module has no loaded build-id note.
std::span<const uint8_t> build_id_of(const dl_phdr_info& module);

// Whether the plan's module has that build-id.
template <typename Planned>
bool has_build_id(const Planned& planned, std::span<const uint8_t> build_id) {
  return planned.build_id_length == build_id.size() &&
         __builtin_memcmp(planned.build_id, build_id.data(), build_id.size()) == 0;
}

// Whether the loaded module has the code that the plan has checked; its build-id is equal. Must be
// asked before the code is relaxed.
bool has_code(const plan::CheckedModule& checked, const dl_phdr_info& module);

// How a loaded module with that build-id compares to one of the plan, by its layout.
enum class Match : uint8_t {
  kNo,
  kBuildIdOnly,  // other content: the build-id was set by hand, for example
  kYes,
};
Match match(const plan::Module& planned, const dl_phdr_info& module,
            std::span<const uint8_t> build_id);

}  // namespace halo::runtime
