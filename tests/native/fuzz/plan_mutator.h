// Compact plans for the plan fuzzer: valid ones to start from, and changes to them.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// A valid plan: about this program's own frames, or a random trie.
Input make_plan(Random& random);

// The plan with a few changes: damage, or nonsense in one field. Most of the time the header's
// size, counts and checksum are made right afterwards, so that the change itself is looked at.
Input mutate_plan(const Input& plan, Random& random);

}  // namespace halo::fuzz
