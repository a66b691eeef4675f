// Reads the machine of the simulator sink, and writes its section of the profile.
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "recorder/analysis/simulator_sink.h"

namespace halo::sinks {

namespace {

// Writes a list of numbers: the first ones, then those of the tally for the levels of the machine.
template <class... First>
void write_tally(Part& part, const simulator::Machine& machine, const Tally& tally,
                 First... first) {
  part.list([&] {
    (part.value(first), ...);
    part.value(tally.accesses);
    part.value(tally.cycles);
    for (size_t at = 0; at < machine.caches.size(); ++at) part.value(tally.cache_misses[at]);
    for (size_t at = 0; at < machine.tlbs.size(); ++at) part.value(tally.tlb_misses[at]);
  });
}

// Writes, for the first cache, the accesses by class, in the order of simulator::MissClass.
void write_classes(Part& part, const simulator::ClassCounts& classes) {
  part.list([&] {
    for (const uint64_t count : classes) part.value(count);
  });
}

void write_classes(Part& part, const Simulation& simulation) {
  const auto& contexts = simulation.contexts;
  part.list("contexts", part.contexts(), [&](uint32_t context) {
    write_classes(part,
                  context < contexts.size() ? contexts[context].classes : simulator::ClassCounts{});
  });
  part.key("outside");
  write_classes(part, simulation.outside.classes);
}

}  // namespace

bool read_machine(std::string_view text, std::optional<simulator::Machine>& machine) {
  if (text == "this") {
    machine = simulator::this_machine();
    return true;
  }
  std::ifstream file{std::string(text)};
  if (!file) return false;
  try {
    machine = simulator::parse_machine(file);
    const simulator::Hierarchy possible(*machine);
    return true;
  } catch (const std::invalid_argument& error) {
    fprintf(stderr, "halo-recorder: %s\n", error.what());
    return false;
  }
}

void write_machine(const simulator::Machine& machine, JsonWriter& json) {
  const auto write_level = [&](const simulator::LevelSettings& level) {
    json.value([&] {
      json.field("name", level.name);
      json.fields("sets", level.shape.sets, "ways", level.shape.ways, "cycles", level.cycles);
    });
  };
  json.list("caches", machine.caches, write_level);
  json.list("tlbs", machine.tlbs, write_level);
  json.key("huge_tlb");
  json.row(machine.huge_tlb.sets, machine.huge_tlb.ways);
  json.fields("line", machine.line, "page", machine.page, "memory_cycles", machine.memory_cycles,
              "walk_cycles", machine.walk_cycles, "next_line", machine.next_line, "streams",
              machine.streams);
}

void SimulatorSink::write(const Result& simulation, Part& part) {
  if (!simulation.simulated) return;
  const simulator::Machine& machine = simulation.machine;
  const auto& contexts = simulation.contexts;
  part.field("simulation", [&] {
    part.field("machine", [&] { write_machine(machine, part); });
    part.list("contexts", part.contexts(), [&](uint32_t context) {
      write_tally(part, machine, context < contexts.size() ? contexts[context] : Tally{});
    });
    part.list("code", simulation.code, [&](const CodeTally& one) {
      write_tally(part, machine, one.tally, part.frame_at(one.code + 1));
    });
    part.list("objects", simulation.objects, [&](const ObjectTally& object) {
      part.row(object.seq, part.index_of(object.context), object.size, object.misses);
    });
    part.key("outside");
    write_tally(part, machine, simulation.outside);
    part.key("prefetched");
    part.list([&] {
      for (size_t level = 0; level < machine.caches.size(); ++level)
        part.value(simulation.prefetched[level]);
    });
    part.fields("cycles", simulation.cycles, "objects_missed", simulation.objects_missed,
                "objects_for_half", simulation.objects_for_half);
    if (!simulation.classified) return;
    part.field("classes", [&] { write_classes(part, simulation); });
    part.field("hot_lines", [&] {
      part.fields("lines", simulation.hot_lines.lines);
      part.list("by_slot", simulation.hot_lines.by_slot,
                [&](uint64_t lines) { part.value(lines); });
    });
  });
}

}  // namespace halo::sinks
