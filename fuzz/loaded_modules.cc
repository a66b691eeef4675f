#include "fuzz/loaded_modules.h"

#include <link.h>

#include "runtime/code/build_id.h"

namespace halo::fuzz {

std::vector<std::vector<uint8_t>> all_build_ids() {
  std::vector<std::vector<uint8_t>> found;
  const auto add = [](dl_phdr_info* info, size_t, void* into) {
    const auto id = runtime::build_id_of(*info);
    auto& ids = *static_cast<std::vector<std::vector<uint8_t>>*>(into);
    if (!id.empty()) ids.emplace_back(id.begin(), id.end());
    return 0;
  };
  dl_iterate_phdr(add, &found);
  return found;
}

}  // namespace halo::fuzz
