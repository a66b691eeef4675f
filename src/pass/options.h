// The options that the wrappers pass to the pass in the environment.
#pragma once

#include <llvm/Support/Error.h>

#include "pass/allocators.h"
#include "pass/filters.h"

namespace halo::pass {

inline constexpr const char* kOptionsVariable = "HALO_INSTRUMENT";

struct Options {
  Filters filters;
  Allocators allocators;
};

// Words KEY=VALUE: function, type, file, event (globs), allocators (a file).
llvm::Expected<Options> parse_options(llvm::StringRef text);

}  // namespace halo::pass
