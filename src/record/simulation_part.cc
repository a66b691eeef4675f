// Prints what was simulated, as docs/profile-format.md defines it.
#include "record/simulation_part.h"

#include "record/json_list.h"

namespace halo::record {

namespace {

void print_levels(FILE* file, const char* key,
                  const std::vector<simulator::LevelSettings>& levels) {
  print_list(file, key, levels, [&](const simulator::LevelSettings& level) {
    fprintf(file, "{\"name\":\"%s\",\"sets\":%u,\"ways\":%u,\"cycles\":%u}", level.name.c_str(),
            level.shape.sets, level.shape.ways, level.cycles);
  });
}

}  // namespace

void print_machine(FILE* file, const simulator::Machine& machine) {
  fputc('{', file);
  print_levels(file, "caches", machine.caches);
  print_levels(file, "tlbs", machine.tlbs);
  fprintf(file,
          "\"huge_tlb\":[%u,%u],\"line\":%u,\"page\":%u,\"memory_cycles\":%u,\"walk_cycles\":%u,"
          "\"next_line\":%s,\"streams\":%s}",
          machine.huge_tlb.sets, machine.huge_tlb.ways, machine.line, machine.page,
          machine.memory_cycles, machine.walk_cycles, machine.next_line ? "true" : "false",
          machine.streams ? "true" : "false");
}

void print_simulation(FILE* file, const sinks::Simulation& simulation,
                      std::span<const uint32_t> code, std::span<const uint32_t> contexts,
                      const std::function<uint32_t(base::ContextId)>& number_of) {
  const size_t caches = simulation.machine.caches.size(), tlbs = simulation.machine.tlbs.size();
  const auto print_tally = [&](const sinks::Tally& tally) {
    fprintf(file, "%lu,%lu", tally.accesses, tally.cycles);
    for (size_t level = 0; level < caches; ++level)
      fprintf(file, ",%lu", tally.cache_misses[level]);
    for (size_t level = 0; level < tlbs; ++level) fprintf(file, ",%lu", tally.tlb_misses[level]);
  };
  fprintf(file, "\"simulation\":{\"machine\":");
  print_machine(file, simulation.machine);
  fputs(",\n", file);
  print_list(file, "contexts", contexts, [&](uint32_t context) {
    const bool seen = context < simulation.contexts.size();
    fprintf(file, "[");
    print_tally(seen ? simulation.contexts[context] : sinks::Tally{});
    fprintf(file, "]");
  });
  size_t at = 0;
  print_list(file, "code", simulation.code, [&](const sinks::CodeTally& one) {
    fprintf(file, "[%u,", code[at++]);
    print_tally(one.tally);
    fprintf(file, "]");
  });
  print_list(file, "objects", simulation.objects, [&](const sinks::ObjectTally& object) {
    fprintf(file, "[%lu,%u,%u,%u]", object.seq, number_of(object.context), object.size,
            object.misses);
  });
  fprintf(file, "\"outside\":[");
  print_tally(simulation.outside);
  fprintf(file, "],\"prefetched\":[");
  for (size_t level = 0; level < caches; ++level)
    fprintf(file, "%s%lu", level == 0 ? "" : ",", simulation.prefetched[level]);
  fprintf(file, "],\"cycles\":%lu,\"objects_missed\":%lu,\"objects_for_half\":%lu},\n",
          simulation.cycles, simulation.objects_missed, simulation.objects_for_half);
}

}  // namespace halo::record
