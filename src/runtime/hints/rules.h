// The plan's rules for hints, by call site.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/exported.h"

namespace halo::runtime {

struct HintCounts {
  std::uint64_t placed;   // objects by their values
  std::uint64_t unknown;  // of call sites with a rule, but without known values
};

struct HintBytes {
  std::uint64_t live, active, dirty, mapped;
};

// Whether the plan has rules that are in force. Set once, before any module is placed.
HALO_HIDDEN extern constinit bool has_hints;

// Prepares the memory of hinted objects. Once, before modules are placed; without memory, no rule
// comes into force.
void begin_hints();

// Makes the rules of a module visible, or invisible; as place_module and remove_module.
void place_hints(std::uint32_t module, std::uintptr_t bias);
void remove_hints(std::uint32_t module);

struct RuleState;

// The rule of the call site with that return address; nullptr if it has none. entry.cc looks it up
// itself: it tries the first rule of the table `halo_hint_rules`.
RuleState* find_rule(std::uintptr_t address);

// A block for the object, by the rule of the call site; nullptr: forward. The registers are those
// of CallState, with the slot behind them.
void* allocate_hinted(std::size_t size, const std::uint64_t* registers,
                      RuleState* rule) asm("halo_place");

HintCounts hint_counts();

// Bytes of hinted objects, of the memory that they touched, of free pages that may be in memory,
// and of all pages. Any thread, without a lock: the numbers may be of slightly different times.
HintBytes hint_bytes();

// Purges free pages. Returns the number of bytes.
std::size_t purge_hinted();

}  // namespace halo::runtime
