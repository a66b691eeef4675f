// Whether the blocks that replace those of an allocator are freed by this library.
#pragma once

#include "tidy/include/halo/tidy_rules.h"

namespace halo::tidy {

// True if code with these functions may get blocks of Tidy instead. Its allocator must be malloc or
// operator new of the C or C++ library. It must free by this library, and so must the rest of the
// process: no preloaded allocator, sanitizer or function of the program is in front. All is looked
// up when the library is loaded; before that, the answer is no.
bool may_replace(const tidy_functions_t& functions);

}  // namespace halo::tidy
