// What the runtime exports for ageing (src/runtime/ageing.cc), where it is preloaded.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace halo::litter {

struct Groups {
  std::uint32_t (*count)() = nullptr;
  void* (*allocate)(std::uint32_t group, std::size_t size) = nullptr;
  std::int32_t (*group_of_request)(std::size_t size, const std::uintptr_t* slot,
                                   std::uintptr_t rbp) = nullptr;

  // How many groups the plan has; 0 where there is no runtime or it is inactive.
  std::uint32_t number() const { return count != nullptr ? count() : 0; }
};

inline Groups find_groups() {
  const auto look_up = [](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
  };
  Groups found;
  look_up(found.count, "halo_group_count");
  look_up(found.allocate, "halo_allocate_in_group");
  look_up(found.group_of_request, "halo_group_of_request");
  return found;
}

}  // namespace halo::litter
