// A logging library for the pass's tests: prints each event, resolved from the sections, to the
// file HALO_STUB as JSON lines; with HALO_STUB_COUNTS only how often each site occurred, at the
// end.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tracing/format/hooks.h"
#include "tracing/format/logged.h"
#include "tracing/format/site.h"

using halo::trace::FieldNote;
using halo::trace::ModuleNote;
using halo::trace::Reference;
using halo::trace::Site;
using halo::trace::TypeNote;

namespace {

std::recursive_mutex guard;
std::map<const Site*, unsigned long>* counts;
bool inside = false;

FILE* output() {
  static FILE* file =
      std::getenv("HALO_STUB") ? std::fopen(std::getenv("HALO_STUB"), "w") : nullptr;
  return file;
}

bool counting() {
  static const bool wanted = std::getenv("HALO_STUB_COUNTS");
  return wanted;
}

template <typename T>
const T* target(const Reference& reference) {
  if (reference == 0) return nullptr;
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(&reference) + reference);
}

const char* text(const Reference& reference) {
  const char* found = target<char>(reference);
  return found ? found : "";
}

void print_text(const char* key, const char* value) {
  std::fprintf(output(), ", \"%s\": \"", key);
  for (; *value; ++value) {
    if (*value == '"' || *value == '\\') std::fputc('\\', output());
    std::fputc(*value, output());
  }
  std::fputc('"', output());
}

void print_site(const Site* site) {
  const TypeNote* owner = target<TypeNote>(site->owner);
  std::fprintf(output(), "\"kind\": %d, \"alignment\": %d, \"size\": %d, \"line\": %u",
               static_cast<int>(site->kind), site->alignment_log2, site->size, site->line);
  std::fprintf(output(), ", \"column\": %u, \"offset\": %u, \"element\": %u", site->column,
               site->owner_offset, site->element_size);
  print_text("file", text(site->file));
  print_text("function", text(site->function));
  print_text("variable", text(site->variable));
  print_text("type", text(site->type));
  print_text("owner", owner ? text(owner->name) : "");
}

void print_counts() {
  for (const auto& [site, count] : *counts) {
    std::fputc('{', output());
    print_site(site);
    std::fprintf(output(), ", \"count\": %lu}\n", count);
  }
}

void print_types(const ModuleNote* note) {
  for (const char* at = note->types; at != note->types_end;) {
    const auto* type = reinterpret_cast<const TypeNote*>(at);
    std::fprintf(output(), "{\"bytes\": %u, \"type_kind\": %d, \"line\": %u, \"fields\": [",
                 type->size, static_cast<int>(type->kind), type->line);
    const auto* field = reinterpret_cast<const FieldNote*>(type + 1);
    for (int number = 0; number < type->fields; ++number, ++field) {
      std::fprintf(output(), "%s{\"offset\": %u, \"bytes\": %u", number ? ", " : "", field->offset,
                   field->size);
      print_text("name", text(field->name));
      print_text("type", text(field->type));
      std::fputc('}', output());
    }
    std::fputc(']', output());
    print_text("described", text(type->name));
    print_text("file", text(type->file));
    std::fputs("}\n", output());
    at = reinterpret_cast<const char*>(field);
  }
}

}  // namespace

extern "C" void stub_event(const Site* site, uint64_t word1, uint64_t word2) {
  const int before = errno;
  const std::scoped_lock lock(guard);
  if (output() && !inside) {
    inside = true;
    const auto number = reinterpret_cast<uint64_t>(site);
    if (counting()) {
      if (number >= halo::trace::kMarkers) ++(*counts)[site];
    } else {
      std::fputc('{', output());
      if (number < halo::trace::kMarkers)
        std::fprintf(output(), "\"kind\": %d", -static_cast<int>(number));
      else
        print_site(site);
      std::fprintf(output(), ", \"word1\": %lu, \"word2\": %lu}\n", word1, word2);
    }
    inside = false;
  }
  errno = before;
}

extern "C" void halo_log_module_v1(const ModuleNote* note) {
  if (!counts) counts = new std::map<const Site*, unsigned long>;
  if (!output()) return;
  std::fprintf(output(), "{\"module\": 1, \"version\": %d, \"site_size\": %d, \"sites\": %ld}\n",
               note->version, note->site_size,
               static_cast<long>((note->sites_end - note->sites) / note->site_size));
  print_types(note);
}

extern "C" void halo_log_module_gone_v1(const ModuleNote*) {
  if (!output()) return;
  if (counting()) print_counts();
  std::fputs("{\"module\": -1}\n", output());
  std::fflush(output());
}
