// Compact plans for the plan fuzzer: valid ones as a start, and changes to them.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// A valid plan: for this program's own frames, or with a random trie.
Input make_plan(Random& random);

// The plan with a few changes: damage, or a random value in one field. Mostly the header's size,
// counts and checksum are updated afterwards, so that the changed field itself is validated.
Input mutate_plan(const Input& plan, Random& random);

}  // namespace halo::fuzz
