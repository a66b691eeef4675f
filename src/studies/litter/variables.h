// Settings from the environment.
#pragma once

#include <stdlib.h>
#include <string.h>

namespace halo::litter {

// The value of a variable whose name begins with HALO_, or of the same name without that prefix, as
// in the Littering paper. nullptr if it is empty or unset.
inline const char* value_of(const char* variable) {
  constexpr size_t kPrefix = sizeof "HALO_" - 1;
  const char* text = getenv(variable);
  if (text == nullptr || *text == '\0') text = getenv(variable + kPrefix);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

}  // namespace halo::litter
