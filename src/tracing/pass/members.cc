#include "tracing/pass/members.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include <algorithm>
#include <numeric>

namespace halo::pass {
namespace {

namespace dwarf = llvm::dwarf;

constexpr int64_t kNearby = 4;  // likely offset of an unknown index, in elements
constexpr int kMaxDepth = 32;   // limit for damaged types that contain themselves

bool is_transparent(unsigned tag) {
  return tag == dwarf::DW_TAG_typedef || tag == dwarf::DW_TAG_const_type ||
         tag == dwarf::DW_TAG_volatile_type || tag == dwarf::DW_TAG_restrict_type ||
         tag == dwarf::DW_TAG_atomic_type;
}

bool is_data(const llvm::DIDerivedType* member) {
  if (member->getTag() == dwarf::DW_TAG_inheritance)
    return !(member->getFlags() & llvm::DINode::FlagVirtual);
  return member->getTag() == dwarf::DW_TAG_member && !member->isStaticMember();
}

uint64_t bytes_of_member(const llvm::DIDerivedType* member) {
  const uint64_t bits = member->getSizeInBits();
  if (!member->isBitField()) return bits ? bits / 8 : bytes_of(member->getBaseType());
  const uint64_t first = member->getOffsetInBits() / 8;
  return (member->getOffsetInBits() + bits + 7) / 8 - first;
}

bool overlaps(const llvm::DIDerivedType* member, int64_t offset, uint64_t size) {
  const auto begin = static_cast<int64_t>(offset_of(member));
  const auto end = begin + static_cast<int64_t>(bytes_of_member(member));
  return begin < offset + static_cast<int64_t>(std::max<uint64_t>(size, 1)) && offset < end;
}

// `int data[]` at the end.
const llvm::DIDerivedType* open_end(const llvm::DICompositeType* type) {
  const auto members = members_of(type);
  if (members.empty()) return nullptr;
  const llvm::DIDerivedType* last = members.back();
  return as_array(last->getBaseType()) && bytes_of(last->getBaseType()) == 0 ? last : nullptr;
}

bool has_size(const llvm::DIDerivedType* member, int64_t offset, uint64_t size) {
  const auto inner = offset - static_cast<int64_t>(offset_of(member));
  return (inner == 0 && bytes_of_member(member) == size) ||
         bytes_of(descend(member->getBaseType(), inner, size).type) == size;
}

// The only member of a union whose innermost member has the size of the access; null if it is
// ambiguous.
const llvm::DIDerivedType* fitting(const std::vector<const llvm::DIDerivedType*>& choices,
                                   int64_t offset, uint64_t size) {
  if (choices.size() == 1) return choices.front();
  const auto fits = [&](const auto* member) { return has_size(member, offset, size); };
  const auto found = std::find_if(choices.begin(), choices.end(), fits);
  const bool only = found != choices.end() && std::none_of(std::next(found), choices.end(), fits);
  return only ? *found : nullptr;
}

// Of two members in the order of declaration, the one of an access at an offset. In the tail
// padding of a base class: the field. In a bit-field's storage: the first bit-field.
const llvm::DIDerivedType* nearer(const llvm::DIDerivedType* one, const llvm::DIDerivedType* other,
                                  int64_t offset) {
  const bool both_hold = overlaps(one, offset, 1) && overlaps(other, offset, 1);
  const bool behind = offset_of(other) > offset_of(one);
  return both_hold && behind && !one->isBitField() ? other : one;
}

const llvm::DIDerivedType* member_at(const llvm::DICompositeType* type, int64_t offset,
                                     uint64_t size) {
  std::vector<const llvm::DIDerivedType*> choices;
  for (const llvm::DIDerivedType* member : members_of(type))
    if (overlaps(member, offset, size) && !is_empty_class(member->getBaseType()))
      choices.push_back(member);
  if (choices.empty()) {
    const llvm::DIDerivedType* last = open_end(type);
    return last && offset >= static_cast<int64_t>(offset_of(last)) ? last : nullptr;
  }
  if (type->getTag() == dwarf::DW_TAG_union_type) return fitting(choices, offset, size);
  return std::accumulate(
      choices.begin() + 1, choices.end(), choices.front(),
      [&](const auto* one, const auto* other) { return nearer(one, other, offset); });
}

// Whether an access covers the whole of a class with several fields.
bool fills(const llvm::DICompositeType* type, int64_t offset, uint64_t size) {
  if (offset != 0 || size != bytes_of(type) || type->getTag() == dwarf::DW_TAG_union_type)
    return false;
  const auto members = members_of(type);
  return std::count_if(members.begin(), members.end(), [](const llvm::DIDerivedType* member) {
           return !is_empty_class(member->getBaseType());
         }) > 1;
}

}  // namespace

const llvm::DIType* strip(const llvm::DIType* type) {
  const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type);
  if (!derived || !is_transparent(derived->getTag())) return type;
  return strip(derived->getBaseType());
}

uint64_t bytes_of(const llvm::DIType* type) {
  const llvm::DIType* plain = strip(type);
  return plain ? plain->getSizeInBits() / 8 : 0;
}

const llvm::DIType* pointee_of(const llvm::DIType* type) {
  const auto* pointer = llvm::dyn_cast_or_null<llvm::DIDerivedType>(strip(type));
  if (!pointer) return nullptr;
  const unsigned tag = pointer->getTag();
  const bool points = tag == dwarf::DW_TAG_pointer_type || tag == dwarf::DW_TAG_reference_type ||
                      tag == dwarf::DW_TAG_rvalue_reference_type;
  return points ? pointer->getBaseType() : nullptr;
}

const llvm::DICompositeType* as_class(const llvm::DIType* type) {
  const auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(strip(type));
  if (!composite) return nullptr;
  const unsigned tag = composite->getTag();
  return tag == dwarf::DW_TAG_structure_type || tag == dwarf::DW_TAG_class_type ||
                 tag == dwarf::DW_TAG_union_type
             ? composite
             : nullptr;
}

const llvm::DICompositeType* as_array(const llvm::DIType* type) {
  const auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(strip(type));
  return composite && composite->getTag() == dwarf::DW_TAG_array_type && !composite->isVector()
             ? composite
             : nullptr;
}

const llvm::DIType* element_of(const llvm::DICompositeType* array) { return array->getBaseType(); }

std::vector<const llvm::DIDerivedType*> members_of(const llvm::DICompositeType* type) {
  std::vector<const llvm::DIDerivedType*> found;
  for (const llvm::DINode* element : type->getElements())
    if (const auto* member = llvm::dyn_cast_or_null<llvm::DIDerivedType>(element))
      if (is_data(member)) found.push_back(member);
  return found;
}

bool is_empty_class(const llvm::DIType* type) {
  const llvm::DICompositeType* composite = as_class(type);
  if (!composite || composite->isForwardDecl()) return false;
  const auto members = members_of(composite);
  return std::all_of(members.begin(), members.end(), [](const llvm::DIDerivedType* member) {
    return is_empty_class(member->getBaseType());
  });
}

uint64_t offset_of(const llvm::DIDerivedType* member) { return member->getOffsetInBits() / 8; }

Descent descend(const llvm::DIType* type, int64_t offset, uint64_t size) {
  Descent found{type, "", {}};
  const int64_t whole = offset;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    if (const llvm::DICompositeType* array = as_array(found.type)) {
      found.type = element_of(array);
      found.path += "[]";
      const auto element = static_cast<int64_t>(bytes_of(found.type));
      if (element) offset = ((offset % element) + element) % element;
      continue;
    }
    const llvm::DICompositeType* composite = as_class(found.type);
    if (!composite) break;
    found.steps.push_back({composite, whole - offset});
    if (fills(composite, offset, size)) break;
    const llvm::DIDerivedType* member = member_at(composite, offset, size);
    if (!member) break;
    if (!member->getName().empty() && member->getTag() == dwarf::DW_TAG_member)
      found.path += ("." + member->getName()).str();
    found.type = member->getBaseType();
    offset -= static_cast<int64_t>(offset_of(member));
  }
  return found;
}

int64_t within(const llvm::DIType* type, int64_t offset) {
  const auto size = static_cast<int64_t>(bytes_of(type));
  if (size == 0 || (offset >= 0 && offset < size)) return offset;
  const llvm::DICompositeType* composite = as_class(type);
  if (composite && offset >= 0 && open_end(composite)) return offset;
  return ((offset % size) + size) % size;
}

bool in_array(const llvm::DIType* type, int64_t offset, uint64_t step) {
  const auto is_element = [&](uint64_t size) {
    return descend(type, within(type, offset), size).path.find("[]") != std::string::npos;
  };
  return is_element(step) || is_element(1);
}

int64_t within_array(const llvm::DIType* type, int64_t offset, uint64_t step) {
  const llvm::DICompositeType* composite = as_class(type);
  if (!composite || step == 0 || step >= bytes_of(composite)) return offset;
  if (in_array(type, offset, step)) return offset;
  int64_t best = offset;
  int64_t nearest = kNearby * static_cast<int64_t>(step);
  for (const llvm::DIDerivedType* member : members_of(composite)) {
    const llvm::DICompositeType* array = as_array(member->getBaseType());
    const auto element = array ? static_cast<int64_t>(bytes_of(element_of(array))) : 0;
    if (element == 0 || static_cast<int64_t>(step) % element != 0) continue;
    const auto begin = static_cast<int64_t>(offset_of(member));
    const auto end = begin + static_cast<int64_t>(bytes_of(array));
    const int64_t distance = offset < begin ? begin - offset : offset - end;
    if (distance > nearest) continue;
    nearest = distance;
    best = begin + (((offset - begin) % element) + element) % element;
  }
  return best;
}

}  // namespace halo::pass
