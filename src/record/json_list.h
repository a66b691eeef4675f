// A list of a JSON object, one item a line.
#pragma once

#include <cstdio>

namespace halo::record {

// `print_one(item)` for each, under the key; more keys follow.
template <class Items, class PrintOne>
void print_list(FILE* file, const char* key, const Items& items, PrintOne&& print_one) {
  fprintf(file, "\"%s\":[", key);
  const char* separator = "\n";
  for (const auto& item : items) {
    fputs(separator, file);
    separator = ",\n";
    print_one(item);
  }
  fprintf(file, "],\n");
}

}  // namespace halo::record
