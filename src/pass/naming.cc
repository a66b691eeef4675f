#include "pass/naming.h"

namespace halo::pass {

Name name_of(const Place& place, uint64_t size, TypeNames& names) {
  if (!place.type) return {place.name, nullptr, nullptr, 0};
  const int64_t offset = within(place.type, place.offset);
  const Descent descent = descend(place.type, offset, size);
  Name name;
  name.type = descent.type;
  if (!descent.steps.empty()) {
    name.owner = descent.steps.front().type;
    name.owner_offset = offset - descent.steps.front().begin;
  }
  const bool through_pointer = !place.is_variable && as_class(place.type);
  name.variable = (through_pointer ? names.name(strip(place.type)) : place.name) + descent.path;
  return name;
}

}  // namespace halo::pass
