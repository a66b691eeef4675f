#include "tracing/pass/combined.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>

namespace halo::pass {
namespace {

// After link-time optimisation the same class may have several descriptions.
bool same(const llvm::DICompositeType* left, const llvm::DICompositeType* right) {
  return left == right || (!left->getName().empty() && left->getName() == right->getName() &&
                           left->getSizeInBits() == right->getSizeInBits());
}

constexpr size_t kOthers = 8;

bool equal(const Place& one, const Place& other) {
  return one.type == other.type && one.name == other.name && one.is_variable == other.is_variable &&
         one.anywhere == other.anywhere &&
         within(one.type, one.offset) == within(other.type, other.offset);
}

std::string readable(llvm::StringRef base) {
  std::string name = llvm::demangle(base);
  constexpr llvm::StringRef kPrefix = "typeinfo name for ";
  return llvm::StringRef(name).starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

}  // namespace

void Place::move(int64_t bytes) {
  offset += bytes;
  for (Place& other : others) other.offset += bytes;
}

void Place::add_other(const Place& other) {
  const auto is_same = [&](const Place& one) { return equal(one, other); };
  const bool known = is_same(*this) || std::any_of(others.begin(), others.end(), is_same);
  if (!known && others.size() < kOthers) {
    Place alone = other;
    alone.others.clear();
    others.push_back(std::move(alone));
  }
  for (const Place& further : other.others) add_other(further);
}

bool agrees(const Place& place, const llvm::DICompositeType* type, int64_t offset, uint64_t size) {
  const int64_t where = within(place.type, place.offset);
  const Descent descent = descend(place.type, where, size);
  return std::any_of(descent.steps.begin(), descent.steps.end(), [&](const Step& step) {
    return same(step.type, type) && where - step.begin == offset;
  });
}

int rank_of(const Place& place) {
  if (as_class(place.type)) return 3;
  if (place.type) return 2;
  return place.name.empty() ? 0 : 1;
}

Place combine(const Place& place, const Tag& tag, uint64_t size, const TypeNames& names) {
  if (tag.base.empty()) return place;
  const llvm::DICompositeType* type = names.tagged(tag.base);
  if (!type) return place.known() ? place : Place{nullptr, 0, readable(tag.base), false};
  // Of several places, the tag determines the common part.
  if (place.type && !place.anywhere && place.others.empty() &&
      agrees(place, type, tag.offset, size))
    return place;
  return {type, tag.offset, "", false};
}

}  // namespace halo::pass
