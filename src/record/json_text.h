// Strings of a JSON document.
#pragma once

#include <cstdio>
#include <string_view>

namespace halo::record {

// With its quotation marks. Bytes that are no UTF-8 become U+FFFD: a path may be any bytes, JSON
// may not.
void print_json_string(FILE* file, std::string_view text);

}  // namespace halo::record
