// The simulation in a process's part of the profile.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>

#include "sinks/simulator_sink.h"

namespace halo::record {

// As docs/simulator.md defines it.
void print_machine(FILE* file, const simulator::Machine& machine);

// Prints it as a key of the object, with a comma behind it. `code`: the frames of its list of code;
// `contexts`: those to be listed, in order; `number_of`: a context's place among them.
void print_simulation(FILE* file, const sinks::Simulation& simulation,
                      std::span<const uint32_t> code, std::span<const uint32_t> contexts,
                      const std::function<uint32_t(base::ContextId)>& number_of);

}  // namespace halo::record
