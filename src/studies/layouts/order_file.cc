// The text of an order.
#include "studies/layouts/order_file.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace halo::layout {

void write_order(const Order& order, const Subject& subject, FILE* file) {
  std::unordered_map<uint32_t, uint32_t> allocated;  // by context
  std::vector<uint32_t> ordinals(subject.facts.size());
  for (uint64_t number = 1; number < ordinals.size(); ++number)
    if (subject.facts[number].exists())
      ordinals[number] = allocated[subject.facts[number].context]++;
  fputs("context ordinal size\n", file);
  for (const uint64_t number : order) {
    const ObjectFacts& one = subject.facts[number];
    fprintf(file, "%u %u %u\n", one.context, ordinals[number], one.size);
  }
}

}  // namespace halo::layout
