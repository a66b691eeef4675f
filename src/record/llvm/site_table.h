// The sites of a trace, by number: what each event means in the source.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/logged.h"
#include "trace/site.h"

namespace halo::record::llvm {

// A module's three sections as they lay in memory, and where.
struct Section {
  uint64_t address = 0;
  std::string_view bytes;
};

struct ModuleSites {
  uint64_t first_site = 0;
  std::string path;
  std::string build_id;
  Section sites, types, strings;
};

// A site with its references resolved; empty where there is nothing.
struct SiteText {
  std::string_view file, function, variable, type;
  int32_t owner = -1;  // number in owners(), -1: none
  std::string field;   // within the owner, `a.b` where nested
};

struct FieldText {
  std::string_view name, type;
  uint32_t offset = 0, size = 0;
};

struct Owner {
  std::string_view name, file;
  trace::TypeNoteKind kind = trace::TypeNoteKind::kStructure;
  uint32_t size = 0, line = 0;
  std::vector<FieldText> fields;
};

// Copies what it is given. A reference that leads out of its section refers to nothing.
class SiteTable {
 public:
  struct Module {
    uint64_t first_site, sites;  // number of the first, and how many
    std::string path, build_id;
    uint64_t sites_address, types_address, strings_address;
    std::string types, strings;  // bytes of the sections
    int32_t first_owner, owners;
  };

  // Their numbers follow on those of the modules before.
  const Module& add(const ModuleSites& module);

  bool knows(uint64_t number) const { return number - kFirst < sites_.size(); }
  // `number` is known.
  const trace::Site& operator[](uint64_t number) const { return sites_[number - kFirst]; }
  uint64_t address_of(uint64_t number) const;
  SiteText text(uint64_t number) const;
  std::string_view module_path(uint64_t number) const { return module_of(number).path; }

  uint64_t end() const { return kFirst + sites_.size(); }
  const std::vector<Owner>& owners() const { return owners_; }
  const std::deque<Module>& modules() const { return modules_; }

 private:
  static constexpr uint64_t kFirst = trace::kMarkers;

  const Module& module_of(uint64_t number) const;
  void add_owners(const Module& module);
  // What the reference in a field at that address leads to.
  static std::string_view string_at(const Module& module, uint64_t field, trace::Reference to);
  int32_t owner_at(uint64_t address) const;
  std::string field_name(int32_t owner, uint32_t offset, int depth) const;

  std::vector<trace::Site> sites_;
  std::deque<Module> modules_;
  std::vector<Owner> owners_;
  std::unordered_map<uint64_t, int32_t> owner_at_;          // by address of its note
  std::unordered_map<std::string_view, int32_t> owner_of_;  // by name
};

}  // namespace halo::record::llvm
