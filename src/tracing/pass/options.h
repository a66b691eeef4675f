// The options that the wrappers pass to the pass in the environment.
#pragma once

#include <llvm/Support/Error.h>

#include "tracing/pass/allocators.h"
#include "tracing/pass/filters.h"
#include "tracing/pass/hint_rules.h"

namespace halo::pass {

inline constexpr const char* kOptionsVariable = "HALO_INSTRUMENT";

struct Options {
  Filters filters;
  Allocators allocators;
  HintRules hints;  // with any, the pass places objects instead of tracing them
};

// Words KEY=VALUE: function, type, file, event (globs), allocators, hints (a file each).
llvm::Expected<Options> parse_options(llvm::StringRef text);

}  // namespace halo::pass
