// Prints sites, types and endings.
#include "record/llvm/trace_json.h"

#include "record/json_text.h"
#include "record/llvm/memory_text.h"
#include "record/simulation_part.h"

namespace halo::record::llvm {

namespace {

const char* name_of(trace::TypeNoteKind kind) {
  switch (kind) {
    case trace::TypeNoteKind::kClass:
      return "class";
    case trace::TypeNoteKind::kUnion:
      return "union";
    case trace::TypeNoteKind::kStructure:
      break;
  }
  return "struct";
}

void print_site(FILE* file, const SiteTable& sites, uint64_t number) {
  const trace::file::SiteText& site = sites[number];
  const bool owned = site.owner >= 0;
  fprintf(file, "[\"%s\",", site_kind_name(site.kind));
  print_json_string(file, site.variable);
  fputc(',', file);
  print_json_string(file, site.type);
  fprintf(file, ",%d,", site.owner);
  print_json_string(file, owned ? sites.field_path(site.owner, site.owner_offset, site.size) : "");
  fprintf(file, ",%u,%u,", owned ? site.owner_offset : 0, unsigned{site.size});
  print_json_string(file, site.function);
  fputc(',', file);
  print_json_string(file, site.file);
  fprintf(file, ",%u,%u]", site.line, site.column);
}

void print_owner(FILE* file, const trace::file::TypeText& owner) {
  fputc('[', file);
  print_json_string(file, owner.name);
  fprintf(file, ",\"%s\",%u,", name_of(owner.kind), owner.size);
  print_json_string(file, owner.file);
  fprintf(file, ",%u,[", owner.line);
  const char* separator = "";
  for (const trace::file::FieldText& field : owner.fields) {
    fprintf(file, "%s[", separator);
    separator = ",";
    print_json_string(file, field.name);
    fputc(',', file);
    print_json_string(file, field.type);
    fprintf(file, ",%u,%u]", field.offset, field.size);
  }
  fputs("]]", file);
}

}  // namespace

const char* site_kind_name(trace::SiteKind kind) {
  static constexpr const char* kNames[] = {"unknown", "load",       "store",
                                           "update",  "read-range", "write-range",
                                           "enter",   "exit",       "allocation"};
  return size_t(kind) < std::size(kNames) ? kNames[size_t(kind)] : kNames[0];
}

std::string machine_json(const simulator::Machine& machine) {
  MemoryText text;
  fputs("{\"machine\":", text.file());
  print_machine(text.file(), machine);
  fprintf(text.file(), ",\"levels\":%zu}", machine.caches.size());
  return text.text();
}

std::string module_json(const SiteTable& sites, const NewModule& module) {
  MemoryText text;
  FILE* file = text.file();
  fputs("{\"path\":", file);
  print_json_string(file, module.text.path);
  fputs(",\"build_id\":", file);
  print_json_string(file, module.text.build_id);
  fprintf(file, ",\"first_site\":%lu,\"sites\":[", module.text.first_site);
  for (uint64_t number = module.text.first_site; number < module.sites_end; ++number) {
    fputs(number == module.text.first_site ? "\n" : ",\n", file);
    print_site(file, sites, number);
  }
  fprintf(file, "],\"owners\":{\"first\":%d,\"all\":[", module.types);
  for (int32_t type = module.types; type < module.types_end; ++type) {
    fputs(type == module.types ? "\n" : ",\n", file);
    print_owner(file, sites.types()[size_t(type)]);
  }
  fputs("]}}", file);
  return text.text();
}

std::string end_json(const TraceEnd& end, uint64_t events) {
  MemoryText text;
  fprintf(text.file(), "{\"events\":%lu,\"lost\":%lu,\"ending\":", events, end.lost);
  print_json_string(text.file(), end.ending);
  fputs(",\"detail\":", text.file());
  print_json_string(text.file(), end.detail);
  fputc('}', text.file());
  return text.text();
}

}  // namespace halo::record::llvm
