// The document of glibc's malloc_info with the memory of groups in it.
#pragma once

#include <cstdio>
#include <string_view>

#include "runtime/accounting/grouped_memory.h"

namespace halo::runtime {

// Writes glibc's document with another heap, which has the groups' memory, and with that memory in
// its totals. Another document is written as it is.
void write_malloc_info(std::FILE* stream, std::string_view document, const GroupedTotals& grouped);

}  // namespace halo::runtime
