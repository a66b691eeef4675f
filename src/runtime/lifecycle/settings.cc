// Reads the environment.
#include "runtime/lifecycle/settings.h"

#include <stdlib.h>
#include <string.h>

namespace halo::runtime {
namespace {

const char* value_of(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Settings read_settings() {
  const char* number = value_of("HALO_STATS_SIGNAL");
  const char* counts = value_of("HALO_STATS_COUNTS");
  return {value_of("HALO_PLAN"), value_of("HALO_STATS"),
          counts == nullptr || strcmp(counts, "0") != 0, number == nullptr ? 0 : atoi(number)};
}

}  // namespace halo::runtime
