// Follows the references between the sections.
#include "record/llvm/site_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace halo::record::llvm {

namespace {

constexpr int kDeepest = 16;  // members within members

// Without what C and C++ put before a type's name.
std::string_view bare(std::string_view type) {
  for (const std::string_view word : {"const ", "volatile ", "struct ", "class ", "union "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  return type;
}

}  // namespace

const SiteTable::Module& SiteTable::add(const ModuleSites& module) {
  Module& added = modules_.emplace_back();
  added.first_site = end();
  added.path = module.path;
  added.build_id = module.build_id;
  added.sites_address = module.sites.address;
  added.types_address = module.types.address;
  added.strings_address = module.strings.address;
  added.types = module.types.bytes;
  added.strings = module.strings.bytes;
  added.sites = module.sites.bytes.size() / sizeof(trace::Site);
  const size_t known = sites_.size();
  sites_.resize(known + added.sites);
  if (added.sites != 0)
    memcpy(&sites_[known], module.sites.bytes.data(), added.sites * sizeof(trace::Site));
  added.first_owner = int32_t(owners_.size());
  add_owners(added);
  added.owners = int32_t(owners_.size()) - added.first_owner;
  return added;
}

void SiteTable::add_owners(const Module& module) {
  for (size_t at = 0; at + sizeof(trace::TypeNote) <= module.types.size();) {
    const uint64_t address = module.types_address + at;
    trace::TypeNote note;
    memcpy(&note, &module.types[at], sizeof note);
    at += sizeof note;
    if (at + note.fields * sizeof(trace::FieldNote) > module.types.size()) return;
    Owner owner;
    owner.name = string_at(module, address + offsetof(trace::TypeNote, name), note.name);
    owner.file = string_at(module, address + offsetof(trace::TypeNote, file), note.file);
    owner.kind = note.kind;
    owner.size = note.size;
    owner.line = note.line;
    for (uint16_t number = 0; number < note.fields; ++number, at += sizeof(trace::FieldNote)) {
      const uint64_t here = module.types_address + at;
      trace::FieldNote field;
      memcpy(&field, &module.types[at], sizeof field);
      owner.fields.push_back(
          {string_at(module, here + offsetof(trace::FieldNote, name), field.name),
           string_at(module, here + offsetof(trace::FieldNote, type), field.type), field.offset,
           field.size});
    }
    const auto id = int32_t(owners_.size());
    owner_at_[address] = id;
    if (!owner.name.empty()) owner_of_.try_emplace(owner.name, id);
    owners_.push_back(std::move(owner));
  }
}

std::string_view SiteTable::string_at(const Module& module, uint64_t field, trace::Reference to) {
  if (to == 0) return {};
  const uint64_t at = field + uint64_t(int64_t{to}) - module.strings_address;
  if (at >= module.strings.size()) return {};
  const char* text = &module.strings[at];
  return {text, strnlen(text, module.strings.size() - at)};
}

const SiteTable::Module& SiteTable::module_of(uint64_t number) const {
  const auto after = std::upper_bound(
      modules_.begin(), modules_.end(), number,
      [](uint64_t value, const Module& module) { return value < module.first_site; });
  return *(after - 1);
}

uint64_t SiteTable::address_of(uint64_t number) const {
  const Module& module = module_of(number);
  return module.sites_address + (number - module.first_site) * sizeof(trace::Site);
}

int32_t SiteTable::owner_at(uint64_t address) const {
  const auto found = owner_at_.find(address);
  return found == owner_at_.end() ? -1 : found->second;
}

SiteText SiteTable::text(uint64_t number) const {
  const trace::Site& site = (*this)[number];
  const Module& module = module_of(number);
  const uint64_t at = address_of(number);
  SiteText text;
  text.file = string_at(module, at + offsetof(trace::Site, file), site.file);
  text.function = string_at(module, at + offsetof(trace::Site, function), site.function);
  text.variable = string_at(module, at + offsetof(trace::Site, variable), site.variable);
  text.type = string_at(module, at + offsetof(trace::Site, type), site.type);
  if (site.owner != 0) {
    text.owner = owner_at(at + offsetof(trace::Site, owner) + uint64_t(int64_t{site.owner}));
    if (text.owner >= 0) text.field = field_name(text.owner, site.owner_offset, 0);
  }
  return text;
}

// The last field that begins at or before the offset and holds it; where that is of a type with
// fields of its own, what lies there in turn. A base class has no name and adds none.
std::string SiteTable::field_name(int32_t owner, uint32_t offset, int depth) const {
  const std::vector<FieldText>& fields = owners_[size_t(owner)].fields;
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (offset < field->offset || offset - field->offset >= std::max(field->size, 1u)) continue;
    std::string name(field->name);
    const auto within = owner_of_.find(bare(field->type));
    if (depth == kDeepest || within == owner_of_.end() || within->second == owner) return name;
    const std::string inner = field_name(within->second, offset - field->offset, depth + 1);
    if (name.empty() || inner.empty()) return name + inner;
    return name + "." + inner;
  }
  return {};
}

}  // namespace halo::record::llvm
