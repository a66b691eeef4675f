// The fuzzer's own executable as a module of the plans that it makes; it is linked with this
// build-id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::fuzz {

inline constexpr uint8_t kOwnBuildId = 0xF5;  // the first of 20 bytes, the others are 0

// The load bias of the executable: return addresses minus this are a plan's offsets.
uintptr_t own_bias();

// Sets a group's flags in an encoded plan; the checksum must be updated afterwards.
void set_group_flags(std::vector<std::byte>& plan, uint32_t group, uint32_t flags,
                     uint64_t starts = 0);

}  // namespace halo::fuzz
