// Rewrites allocations, so that Tidy places objects by values that are stored into them.
#pragma once

#include <llvm/IR/Module.h>

#include "tracing/pass/hint_rules.h"

namespace halo::pass {

// Whether an allocation was rewritten. Types come from debug information. Calls of malloc and of
// the plain operator new are rewritten, if they allocate one object of a type with a rule, and if
// all values that the rule names are known there.
bool place_by_hints(llvm::Module& module, const HintRules& rules);

}  // namespace halo::pass
