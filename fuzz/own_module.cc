// The load bias, and the place of a group's flags.
#include "fuzz/own_module.h"

#include <link.h>

#include <cstring>

#include "plan/format.h"

namespace halo::fuzz {

uintptr_t own_bias() {
  uintptr_t bias = 0;
  const auto take_first = [](dl_phdr_info* info, size_t, void* into) {
    *static_cast<uintptr_t*>(into) = info->dlpi_addr;
    return 1;  // the executable comes first
  };
  dl_iterate_phdr(take_first, &bias);
  return bias;
}

void set_group_flags(std::vector<std::byte>& plan, uint32_t group, uint32_t flags,
                     uint64_t starts) {
  plan::Header header;
  std::memcpy(&header, plan.data(), sizeof header);
  const size_t at =
      sizeof header + header.modules * sizeof(plan::Module) + group * sizeof(plan::Group);
  std::memcpy(plan.data() + at + offsetof(plan::Group, flags), &flags, sizeof flags);
  std::memcpy(plan.data() + at + offsetof(plan::Group, starts), &starts, sizeof starts);
}

}  // namespace halo::fuzz
