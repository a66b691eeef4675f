// Synthetic sections of a module, with references as the linker leaves them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "tracing/format/site.h"
#include "tracing/format/site_table.h"

namespace halo::trace {

struct NoteField {
  const char* name;
  const char* type;
  uint32_t offset, size;
};

struct Note {
  const char* name;
  uint32_t size;
  std::vector<NoteField> fields;
  TypeNoteKind kind = TypeNoteKind::kStructure;
};

struct MadeSections {
  static constexpr uint64_t kSites = 0x555500010000, kTypes = 0x555500020000,
                            kStrings = 0x555500030000;

  void add_type(const Note& note) {
    places.push_back(types.size());
    TypeNote head{.name = string(note.name, kTypes + types.size()),
                  .size = note.size,
                  .kind = note.kind,
                  .fields = uint16_t(note.fields.size()),
                  .line = 1,
                  .file = 0};
    put(types, head);
    for (const NoteField& one : note.fields) {
      const uint64_t here = kTypes + types.size();
      put(types, FieldNote{.name = string(one.name, here),
                           .type = string(one.type, here + offsetof(FieldNote, type)),
                           .offset = one.offset,
                           .size = one.size});
    }
  }

  // `owner`: the number of the type; -1: as in `site`.
  void add_site(Site site, const char* function, int owner) {
    const uint64_t here = kSites + sites.size();
    site.function = string(function, here + offsetof(Site, function));
    if (owner >= 0) {
      const uint64_t note = kTypes + places[size_t(owner)];
      site.owner = Reference(int64_t(note) - int64_t(here + offsetof(Site, owner)));
    }
    put(sites, site);
  }

  void add_to(SiteTable& table, uint64_t first_site, const char* path) const {
    table.add({.head = {.first_site = first_site,
                        .sites = kSites,
                        .sites_bytes = sites.size(),
                        .types = kTypes,
                        .types_bytes = types.size(),
                        .strings = kStrings,
                        .strings_bytes = strings.size(),
                        .path_bytes = 0,
                        .build_id_bytes = 0},
               .path = path,
               .build_id = "",
               .sites = std::as_bytes(std::span(sites)),
               .types = std::as_bytes(std::span(types)),
               .strings = std::as_bytes(std::span(strings))});
  }

  std::string sites, types, strings;
  std::vector<size_t> places;  // of the types

 private:
  Reference string(const char* text, uint64_t from) {
    if (*text == 0) return 0;
    const uint64_t at = kStrings + strings.size();
    strings.append(text, std::strlen(text) + 1);
    return Reference(int64_t(at) - int64_t(from));
  }
  template <class T>
  static void put(std::string& to, const T& object) {
    to.append(reinterpret_cast<const char*>(&object), sizeof object);
  }
};

}  // namespace halo::trace
