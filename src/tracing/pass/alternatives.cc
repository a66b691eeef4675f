#include "tracing/pass/alternatives.h"

#include <algorithm>

#include "tracing/pass/choices.h"

namespace halo::pass {
namespace {

// Whether a pointer from around a loop adds no information to one from outside.
bool is_part(const Place& inner, const Place& outer) {
  const llvm::DICompositeType* type = as_class(inner.type);
  return type && outer.type && !inner.anywhere && !outer.anywhere &&
         agrees(outer, type, within(type, inner.offset), 1);
}

// A variable's address and pointees of pointers to pointers are certain. Any other place below a
// class is a guess, which does not count beside a better one.
bool counts(const Place& place, int best) {
  const bool sure = place.is_variable || pointee_of(place.type);
  return rank_of(place) == best || (best == 3 && rank_of(place) == 2 && sure);
}

// Any element of the array that the place is in, or that is itself an element.
Place somewhere(Place place, uint64_t step) {
  const uint64_t size = bytes_of(place.type);
  if (!as_class(place.type) || size == 0 || step % size == 0) return place;
  place.offset = within_array(place.type, place.offset, step);
  place.anywhere = place.anywhere || !in_array(place.type, place.offset, step);
  return place;
}

Place each_of(const Place& place, const std::vector<llvm::APInt>& indices, uint64_t step) {
  Place all;
  for (const llvm::APInt& index : indices) {
    Place one = place;
    one.move(index.getSExtValue() * static_cast<int64_t>(step));
    if (all.known())
      all.add_other(one);
    else
      all = one;
  }
  return all;
}

}  // namespace

Place merge_of(const std::vector<Alternative>& alternatives) {
  int best = 0;
  for (const Alternative& one : alternatives) best = std::max(best, rank_of(one.place));
  Place all;
  const auto add = [&](const Place& place) {
    if (all.known())
      all.add_other(place);
    else
      all = place;
  };
  for (const Alternative& one : alternatives)
    if (one.certain && counts(one.place, best)) add(one.place);
  for (const Alternative& one : alternatives) {
    if (one.certain || !counts(one.place, best)) continue;
    const bool more = best == 3 && !is_part(one.place, all) &&
                      std::none_of(all.others.begin(), all.others.end(),
                                   [&](const Place& other) { return is_part(one.place, other); });
    if (!all.known() || more) add(one.place);
  }
  return all;
}

Place indexed(const Place& place, const Steps& steps) {
  const uint64_t step = steps.front().second.getZExtValue();
  if (steps.size() == 1 && as_class(place.type))
    if (const auto indices = choices_of(steps.front().first); !indices.empty())
      return each_of(place, indices, step);
  Place moved = somewhere(place, step);
  moved.others.clear();
  for (const Place& other : place.others) moved.add_other(somewhere(other, step));
  return moved;
}

}  // namespace halo::pass
