#include "tracing/pass/naming.h"

#include <llvm/ADT/StringRef.h>

#include <algorithm>

namespace halo::pass {
namespace {

constexpr size_t kNamed = 3;  // maximum number of alternatives in a name

std::string holder_of(const Place& place, TypeNames& names) {
  const bool through_pointer = place.type && !place.is_variable && as_class(place.type);
  return through_pointer ? names.name(strip(place.type)) : place.name;
}

Name one_name(const Place& place, uint64_t size, TypeNames& names) {
  const std::string holder = holder_of(place, names);
  if (!place.type) return {holder, nullptr, nullptr, 0};
  if (place.anywhere) return {holder + ".?", nullptr, nullptr, 0};
  const int64_t offset = within(place.type, place.offset);
  const Descent descent = descend(place.type, offset, size);
  Name name;
  name.type = descent.type;
  if (!descent.steps.empty()) {
    name.owner = descent.steps.front().type;
    name.owner_offset = offset - descent.steps.front().begin;
  }
  name.variable = holder + descent.path;
  return name;
}

bool reaches(const Place& place) {
  return place.offset >= 0 && place.offset < static_cast<int64_t>(bytes_of(place.type));
}

// Whether the other place is a part of this class at the same offset, so that they agree.
bool is_more_than(const Place& place, const Place& other, uint64_t size) {
  const llvm::DICompositeType* type = as_class(other.type);
  return type && as_class(place.type) && !place.anywhere && !other.anywhere &&
         bytes_of(place.type) > bytes_of(type) &&
         agrees(place, type, within(type, other.offset), size);
}

std::vector<Place> alternatives_of(const Place& place, uint64_t size) {
  std::vector<Place> all = place.others;
  all.insert(all.begin(), place);
  // If a pointer to a base class is followed beyond the base's end, it points to the derived class.
  if (std::any_of(all.begin(), all.end(), reaches))
    std::erase_if(all, [](const Place& one) { return one.type && !reaches(one); });
  const std::vector<Place> before = all;
  std::erase_if(all, [&](const Place& one) {
    return std::any_of(before.begin(), before.end(),
                       [&](const Place& other) { return is_more_than(one, other, size); });
  });
  const bool in_one_type = std::all_of(
      all.begin(), all.end(), [&](const Place& one) { return one.type == all.front().type; });
  if (in_one_type)
    std::stable_sort(all.begin(), all.end(), [](const Place& one, const Place& other) {
      return one.offset < other.offset;
    });
  return all;
}

// "node.left", "node.right" -> "node.left|right".
std::string joined(const std::vector<std::string>& variables, const std::string& holder) {
  if (variables.size() > kNamed) return holder.empty() ? "" : holder + ".?";
  std::string text = variables.front();
  for (size_t number = 1; number < variables.size(); ++number) {
    llvm::StringRef next = variables[number];
    if (!holder.empty() && next.size() > holder.size() + 1 && next[holder.size()] == '.')
      next = next.drop_front(holder.size() + 1);
    text += "|" + next.str();
  }
  return text;
}

}  // namespace

Name name_of(const Place& place, uint64_t size, TypeNames& names) {
  if (place.others.empty()) return one_name(place, size, names);
  Name whole;
  std::string holder;  // of all; empty if they differ
  std::vector<std::string> variables;
  for (const Place& one : alternatives_of(place, size)) {
    Name name = one_name(one, size, names);
    const std::string held_by = holder_of(one, names);
    if (variables.empty()) {
      whole = name;
      holder = held_by;
    }
    if (whole.type && (!name.type || names.name(name.type) != names.name(whole.type)))
      whole.type = nullptr;
    if (holder != held_by) holder.clear();
    if (std::find(variables.begin(), variables.end(), name.variable) == variables.end())
      variables.push_back(std::move(name.variable));
  }
  if (variables.size() > 1) {
    whole.owner = nullptr;
    whole.owner_offset = 0;
    whole.variable = joined(variables, holder);
  }
  return whole;
}

}  // namespace halo::pass
