// scan: a table whose entries fit into a first-level cache, beside a list that is scanned once a
// round and does not fit. An adversary: the list's nodes must not be spread over the table's sets.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"

namespace {

struct Entry {
  uint64_t key;
  uint64_t hits;
  uint64_t rest[6];
};

// The header of a large node; the rest is not used.
struct Node {
  Node* next;
  uint64_t seen;
};

template <class Object>
Object* allocate(size_t bytes) {
  void* made = std::calloc(1, bytes);
  if (made == nullptr) {
    std::abort();
  }
  return static_cast<Object*>(made);
}

std::vector<Entry*> make_table(uint32_t count, Rng& rng) {
  std::vector<Entry*> table;
  for (uint32_t i = 0; i < count; ++i) {
    table.push_back(allocate<Entry>(sizeof(Entry)));
    table.back()->key = rng_next(&rng);
  }
  return table;
}

Node* make_list(uint32_t count, size_t bytes) {
  Node* first = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    auto* node = allocate<Node>(bytes);
    node->next = first;
    first = node;
  }
  return first;
}

// Between two nodes, some entries are looked up.
uint64_t run_round(Node* list, std::vector<Entry*>& table, uint32_t lookups, Rng& rng) {
  uint64_t checksum = 0;
  for (Node* node = list; node != nullptr; node = node->next) {
    ++node->seen;
    for (uint32_t i = 0; i < lookups; ++i) {
      Entry* entry = table[rng_below(&rng, static_cast<uint32_t>(table.size()))];
      checksum = checksum_add(checksum, entry->key + ++entry->hits);
    }
  }
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"entries", 1, 1000000, 0},
                          {"nodes", 1, 10000000, 0},
                          {"bytes of a node", sizeof(Node), 1 << 20, 0},
                          {"rounds", 0, 1000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 5);
  Rng rng{static_cast<uint64_t>(arguments[4].value)};
  std::vector<Entry*> table = make_table(static_cast<uint32_t>(arguments[0].value), rng);
  Node* list =
      make_list(static_cast<uint32_t>(arguments[1].value), static_cast<size_t>(arguments[2].value));
  const long rounds = arguments[3].value;
  constexpr uint32_t kLookups = 8;
  uint64_t checksum = 0;
  for (long round = 0; round < rounds; ++round) {
    checksum = checksum_add(checksum, run_round(list, table, kLookups, rng));
  }
  std::printf("scan: %ld rounds\nchecksum %016" PRIx64 "\n", rounds, checksum);
  while (list != nullptr) {
    Node* next = list->next;
    std::free(list);
    list = next;
  }
  for (Entry* entry : table) {
    std::free(entry);
  }
  return 0;
}
