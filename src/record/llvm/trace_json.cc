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
  const trace::Site& site = sites[number];
  const SiteText text = sites.text(number);
  fprintf(file, "[\"%s\",", site_kind_name(site.kind));
  print_json_string(file, text.variable);
  fputc(',', file);
  print_json_string(file, text.type);
  fprintf(file, ",%d,", text.owner);
  print_json_string(file, text.field);
  fprintf(file, ",%u,%u,", text.owner < 0 ? 0 : site.owner_offset, unsigned{site.size});
  print_json_string(file, text.function);
  fputc(',', file);
  print_json_string(file, text.file);
  fprintf(file, ",%u,%u]", site.line, site.column);
}

void print_owner(FILE* file, const Owner& owner) {
  fputc('[', file);
  print_json_string(file, owner.name);
  fprintf(file, ",\"%s\",%u,", name_of(owner.kind), owner.size);
  print_json_string(file, owner.file);
  fprintf(file, ",%u,[", owner.line);
  const char* separator = "";
  for (const FieldText& field : owner.fields) {
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

std::string module_json(const SiteTable& sites, const SiteTable::Module& module) {
  MemoryText text;
  FILE* file = text.file();
  fputs("{\"path\":", file);
  print_json_string(file, module.path);
  fputs(",\"build_id\":", file);
  print_json_string(file, module.build_id);
  fprintf(file, ",\"first_site\":%lu,\"sites\":[", module.first_site);
  for (uint64_t at = 0; at < module.sites; ++at) {
    fputs(at == 0 ? "\n" : ",\n", file);
    print_site(file, sites, module.first_site + at);
  }
  fprintf(file, "],\"owners\":{\"first\":%d,\"all\":[", module.first_owner);
  for (int32_t at = 0; at < module.owners; ++at) {
    fputs(at == 0 ? "\n" : ",\n", file);
    print_owner(file, sites.owners()[size_t(module.first_owner + at)]);
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
