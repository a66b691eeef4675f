// Whether an address is a whole number of equal steps away from another, without a division.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

inline constexpr std::size_t granule = 8;

// What a number of granules is multiplied by: of n granules, this times n, modulo 2^32, is less
// than it if and only if n is a multiple of the step's granules (Lemire, Kaser and Kurz, "Faster
// remainder by direct computation"). That holds for steps up to 64 KiB and distances up to 1 MiB. A
// step of one granule has no such factor; its is right but for a distance of 1.
constexpr std::uint32_t step_factor(std::uint32_t bytes) {
  const auto granules = static_cast<std::uint32_t>(bytes / granule);
  return granules == 1 ? UINT32_MAX : UINT32_MAX / granules + 1;
}

// Of where the steps begin, to be subtracted from the same of any other place.
inline std::uint32_t step_phase(const void* p, std::uint32_t factor) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(p) / granule) * factor;
}

// Whether `p`, a multiple of granules, is such a place; `first` is the phase of the first one.
inline bool is_step(const void* p, std::uint32_t factor, std::uint32_t first) {
  return step_phase(p, factor) - first < factor;
}

}  // namespace halo::runtime
