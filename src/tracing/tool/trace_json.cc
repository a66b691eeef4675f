// Prints sites, types and endings.
#include "tracing/tool/trace_json.h"

#include <ranges>

#include "base/json/writer.h"
#include "recorder/analysis/simulator_sink.h"
#include "tracing/tool/memory_text.h"

namespace halo::trace_tool {

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

void write_site(JsonWriter& json, const SiteTable& sites, uint64_t number) {
  const trace::SiteText& site = sites[number];
  const bool owned = site.owner >= 0;
  json.row(site_kind_name(site.kind), site.variable, site.type, site.owner,
           owned ? sites.field_path(site.owner, site.owner_offset, site.size) : std::string(),
           owned ? site.owner_offset : 0, site.size, site.function, site.file, site.line,
           site.column);
}

void write_owner(JsonWriter& json, const trace::TypeText& owner) {
  json.list([&] {
    json.value(owner.name);
    json.value(name_of(owner.kind));
    json.value(owner.size);
    json.value(owner.file);
    json.value(owner.line);
    json.list([&] {
      for (const trace::FieldText& field : owner.fields)
        json.row(field.name, field.type, field.offset, field.size);
    });
  });
}

// Returns the object whose members `write(json)` writes.
template <class Write>
std::string object_text(Write&& write) {
  MemoryText text;
  JsonWriter json(text.file());
  json.value([&] { write(json); });
  return text.text();
}

}  // namespace

const char* site_kind_name(trace::SiteKind kind) {
  static constexpr const char* kNames[] = {"unknown", "load",       "store",
                                           "update",  "read-range", "write-range",
                                           "enter",   "exit",       "allocation"};
  return size_t(kind) < std::size(kNames) ? kNames[size_t(kind)] : kNames[0];
}

std::string machine_json(const simulator::Machine& machine) {
  return object_text([&](JsonWriter& json) {
    json.field("machine", [&] { sinks::write_machine(machine, json); });
    json.field("levels", machine.caches.size());
  });
}

std::string module_json(const SiteTable& sites, const NewModule& module) {
  return object_text([&](JsonWriter& json) {
    const uint64_t first = module.text.first_site;
    json.fields("path", module.text.path, "build_id", module.text.build_id, "first_site", first);
    json.list("sites", std::views::iota(first, module.sites_end),
              [&](uint64_t number) { write_site(json, sites, number); });
    json.field("owners", [&] {
      json.field("first", module.types);
      json.list("all", std::views::iota(module.types, module.types_end),
                [&](int32_t type) { write_owner(json, sites.types()[size_t(type)]); });
    });
  });
}

std::string end_json(const TraceEnd& end, uint64_t events) {
  return object_text([&](JsonWriter& json) {
    json.fields("events", events, "lost", end.lost, "ending", end.ending, "detail", end.detail);
  });
}

}  // namespace halo::trace_tool
