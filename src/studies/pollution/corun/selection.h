// Which contexts of a program to confine, so that the program alone misses least.
#pragma once

#include <vector>

#include "studies/pollution/corun/mix.h"

namespace halo::corun {

// For each owner, whether it is confined. Beginning with all open, the context is confined that
// saves most misses of the last level, again and again, while it saves at least 3 % of them. Only
// the eight contexts with most requests are tried, and none with less than a hundredth of them.
// Each trial replays the stream, in frames that no seed of a mix has.
std::vector<bool> select_owners(const simulator::Machine& machine, const Colours& colours,
                                const Stream& stream);

}  // namespace halo::corun
