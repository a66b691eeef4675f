// The sites of a trace and the types that they access, by number, with all references resolved.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing/format/site.h"
#include "tracing/format/trace_reader.h"

namespace halo::trace {

struct FieldText {
  std::string_view name;  // empty: a base class or a nameless member
  std::string_view type;
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct TypeText {
  std::string_view name;
  TypeNoteKind kind{};
  uint32_t size = 0;
  std::vector<FieldText> fields;  // ascending by offset
  std::string_view file;
  uint32_t line = 0;
  uint32_t module = 0;  // index in modules()
};

// Strings are empty and numbers 0 if unknown.
struct SiteText {
  SiteKind kind{};
  uint8_t alignment_log2 = 0;
  uint16_t size = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string_view file;
  std::string_view function;
  std::string_view variable;
  std::string_view type;
  int32_t owner = -1;  // index in types(); -1: none
  uint32_t owner_offset = 0;
  uint32_t element_size = 0;
  uint32_t module = 0;  // index in modules()
};

class SiteTable {
 public:
  struct ModuleText {
    std::string path;
    std::string build_id;
    uint64_t first_site = 0;
    uint64_t sites_address = 0;  // address of its first site in the running program
  };

  // Adds a module, in the order of the trace, and copies its data. Throws TraceError for references
  // out of bounds.
  void add(const Module& module);

  bool contains(uint64_t number) const { return number - kMarkers < sites_.size(); }
  // The table must contain `number`.
  const SiteText& operator[](uint64_t number) const { return sites_[number - kMarkers]; }
  // One past the last number.
  uint64_t end() const { return kMarkers + sites_.size(); }
  // The address of the Site in the running program.
  uint64_t address_of(uint64_t number) const;

  const std::vector<TypeText>& types() const { return types_; }
  const std::deque<ModuleText>& modules() const { return modules_; }

  // The path of `size` bytes at `offset` of a type, down to the innermost member that they fill,
  // such as "a.b[].c". For a union it follows the only member of that size. Base classes and
  // nameless members add nothing. Empty if no field is there.
  std::string field_path(int32_t type, uint32_t offset, uint32_t size) const;

 private:
  struct Sections;
  void add_types(const Sections& sections);
  void add_site(const Sections& sections, size_t number);
  int32_t type_called(std::string_view name, uint32_t module) const;
  struct Wanted {
    uint32_t offset;  // in the type or in the containing field
    uint32_t size;
    int depth;
    uint32_t* steps;  // remaining budget
  };
  // These append the accessed member to the path, and return the size of its innermost type.
  uint32_t descend(int32_t type, const Wanted& wanted, std::string& path) const;
  uint32_t descend_into(const FieldText& field, uint32_t module, const Wanted& wanted,
                        std::string& path) const;
  const FieldText* field_at(const TypeText& type, uint32_t offset) const;
  const FieldText* field_of_union(const TypeText& type, const Wanted& wanted) const;

  std::deque<ModuleText> modules_;
  std::deque<std::string> strings_;  // of all modules
  std::vector<SiteText> sites_;
  std::vector<TypeText> types_;
  std::unordered_map<uint64_t, int32_t> type_at_;  // by the offset of its note in the module being
                                                   // added
  std::unordered_map<std::string_view, std::vector<int32_t>> types_called_;
};

}  // namespace halo::trace
