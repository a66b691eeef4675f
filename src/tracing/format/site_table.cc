// Resolves the references between a module's sections, which may be damaged.
#include "tracing/format/site_table.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace halo::trace {
namespace {

constexpr int kMaxDepth = 16;          // nesting of members
constexpr uint32_t kMaxSteps = 10000;  // against types with excessively nested unions

[[noreturn]] void damaged(const char* what) {
  throw TraceError(std::string("the trace is damaged: ") + what);
}

template <class T>
T copy_at(std::span<const std::byte> section, size_t at) {
  T object;
  std::memcpy(&object, section.data() + at, sizeof object);
  return object;
}

// Whether the field contains the start of the access.
bool holds(const FieldText& field, uint32_t offset) {
  return offset >= field.offset && offset - field.offset < std::max(field.size, 1u);
}

struct ElementName {
  std::string_view name;
  bool in_array;
  uint64_t count;  // of elements, at least 1
};

// "struct node *[4][2]" is an array of "struct node *".
ElementName element_of(std::string_view type) {
  ElementName found{type, false, 1};
  while (found.name.ends_with(']') && found.name.find('[') != std::string_view::npos) {
    const size_t open = found.name.rfind('[');
    uint32_t count = 0;
    std::from_chars(found.name.data() + open + 1, found.name.data() + found.name.size(), count);
    found.count = std::min<uint64_t>(found.count * std::clamp(count, 1u, 1u << 16), 1u << 31);
    found.name = found.name.substr(0, open);
    found.in_array = true;
  }
  while (found.name.ends_with(' ')) found.name.remove_suffix(1);
  return found;
}

std::string_view without_keywords(std::string_view type) {
  for (const std::string_view word : {"const ", "volatile ", "struct ", "class ", "union "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  return type;
}

}  // namespace

struct SiteTable::Sections {
  const Module& module;
  std::string_view strings;  // copied
  uint32_t number;           // of the module

  // The string that the reference at this address of the running program refers to.
  std::string_view string(uint64_t address, Reference to) const {
    if (to == 0) return {};
    const uint64_t at = address + uint64_t(int64_t{to}) - module.head.strings;
    if (at >= strings.size()) damaged("a reference to a string leads out of its section");
    const size_t end = strings.find('\0', at);
    if (end == std::string_view::npos) damaged("a string has no end");
    return strings.substr(at, end - at);
  }
};

void SiteTable::add(const Module& module) {
  if (module.head.first_site != end()) damaged("a module's sites are numbered out of order");
  if (module.sites.size() % sizeof(Site) != 0) damaged("a module has a part of a site");
  modules_.push_back({std::string(module.path), std::string(module.build_id),
                      module.head.first_site, module.head.sites});
  const std::string& copied = strings_.emplace_back(
      reinterpret_cast<const char*>(module.strings.data()), module.strings.size());
  const Sections sections{module, copied, uint32_t(modules_.size() - 1)};
  type_at_.clear();
  add_types(sections);
  const size_t count = module.sites.size() / sizeof(Site);
  sites_.reserve(sites_.size() + count);
  for (size_t number = 0; number < count; ++number) add_site(sections, number);
}

void SiteTable::add_types(const Sections& sections) {
  const std::span<const std::byte> bytes = sections.module.types;
  for (size_t at = 0; at != bytes.size();) {
    if (bytes.size() - at < sizeof(TypeNote)) damaged("a type's note is cut off");
    const auto note = copy_at<TypeNote>(bytes, at);
    const uint64_t here = sections.module.head.types + at;
    TypeText type{.name = sections.string(here + offsetof(TypeNote, name), note.name),
                  .kind = note.kind,
                  .size = note.size,
                  .fields = {},
                  .file = sections.string(here + offsetof(TypeNote, file), note.file),
                  .line = note.line,
                  .module = sections.number};
    type_at_.emplace(here, int32_t(types_.size()));
    at += sizeof note;
    if ((bytes.size() - at) / sizeof(FieldNote) < note.fields) damaged("a type lacks fields");
    for (unsigned i = 0; i < note.fields; ++i, at += sizeof(FieldNote)) {
      const auto field = copy_at<FieldNote>(bytes, at);
      const uint64_t place = sections.module.head.types + at;
      type.fields.push_back({.name = sections.string(place + offsetof(FieldNote, name), field.name),
                             .type = sections.string(place + offsetof(FieldNote, type), field.type),
                             .offset = field.offset,
                             .size = field.size});
    }
    if (!type.name.empty()) types_called_[type.name].push_back(int32_t(types_.size()));
    types_.push_back(std::move(type));
  }
}

void SiteTable::add_site(const Sections& sections, size_t number) {
  const auto site = copy_at<Site>(sections.module.sites, number * sizeof(Site));
  const uint64_t here = sections.module.head.sites + number * sizeof(Site);
  int32_t owner = -1;
  if (site.owner != 0) {
    const uint64_t note = here + offsetof(Site, owner) + uint64_t(int64_t{site.owner});
    const auto found = type_at_.find(note);
    if (found == type_at_.end()) damaged("a site refers to a type that is not there");
    owner = found->second;
  }
  sites_.push_back({.kind = site.kind,
                    .alignment_log2 = site.alignment_log2,
                    .size = site.size,
                    .line = site.line,
                    .column = site.column,
                    .file = sections.string(here + offsetof(Site, file), site.file),
                    .function = sections.string(here + offsetof(Site, function), site.function),
                    .variable = sections.string(here + offsetof(Site, variable), site.variable),
                    .type = sections.string(here + offsetof(Site, type), site.type),
                    .owner = owner,
                    .owner_offset = site.owner_offset,
                    .element_size = site.element_size,
                    .module = sections.number});
}

uint64_t SiteTable::address_of(uint64_t number) const {
  const ModuleText& module = modules_[(*this)[number].module];
  return module.sites_address + (number - module.first_site) * sizeof(Site);
}

// Types of one name may differ between modules: the one of the same module comes first.
int32_t SiteTable::type_called(std::string_view name, uint32_t module) const {
  const auto found = types_called_.find(without_keywords(name));
  if (found == types_called_.end()) return -1;
  const std::vector<int32_t>& all = found->second;
  const auto own = std::find_if(all.begin(), all.end(), [&](int32_t number) {
    return types_[size_t(number)].module == module;
  });
  return own == all.end() ? all.front() : *own;
}

// The field of an access at an offset. In the tail padding of a base class: the field, not the
// base. In a bit-field's storage: the first bit-field.
const FieldText* SiteTable::field_at(const TypeText& type, uint32_t offset) const {
  const FieldText* best = nullptr;
  for (const FieldText& field : type.fields) {
    if (!holds(field, offset)) continue;
    if (best == nullptr || best->offset == field.offset ||
        type_called(best->type, type.module) >= 0)
      best = &field;
  }
  return best;
}

// The field of a union whose innermost field has the size of the access, if it is unique.
const FieldText* SiteTable::field_of_union(const TypeText& type, const Wanted& wanted) const {
  const FieldText* found = nullptr;
  const auto here = [&](const FieldText& field) { return holds(field, wanted.offset); };
  const bool only = std::count_if(type.fields.begin(), type.fields.end(), here) == 1;
  for (const FieldText& field : type.fields) {
    std::string ignored;
    if (!holds(field, wanted.offset)) continue;
    if (!only && descend_into(field, type.module, wanted, ignored) != wanted.size) continue;
    if (found != nullptr) return nullptr;
    found = &field;
  }
  return found;
}

uint32_t SiteTable::descend(int32_t number, const Wanted& wanted, std::string& path) const {
  const TypeText& type = types_[size_t(number)];
  if (*wanted.steps == 0) return 0;
  --*wanted.steps;
  const FieldText* best = type.kind == TypeNoteKind::kUnion ? field_of_union(type, wanted)
                                                            : field_at(type, wanted.offset);
  return best == nullptr ? type.size : descend_into(*best, type.module, wanted, path);
}

uint32_t SiteTable::descend_into(const FieldText& field, uint32_t module, const Wanted& wanted,
                                 std::string& path) const {
  if (!field.name.empty()) path.append(path.empty() ? "" : ".").append(field.name);
  const ElementName element = element_of(field.type);
  const bool filled = wanted.offset == field.offset && wanted.size >= field.size;
  if (element.in_array && !filled) path += "[]";
  // A nameless member is described by its contents.
  if (filled && !field.name.empty()) return field.size;
  const int32_t inner = type_called(element.name, module);
  if (inner < 0) return uint32_t(field.size / element.count);
  const uint32_t inner_size = std::max(types_[size_t(inner)].size, 1u);
  Wanted deeper = wanted;
  deeper.offset = (wanted.offset - field.offset) % inner_size;
  return ++deeper.depth > kMaxDepth ? 0 : descend(inner, deeper, path);
}

std::string SiteTable::field_path(int32_t type, uint32_t offset, uint32_t size) const {
  std::string path;
  uint32_t steps = kMaxSteps;
  if (type >= 0 && size_t(type) < types_.size()) descend(type, {offset, size, 0, &steps}, path);
  return path;
}

}  // namespace halo::trace
