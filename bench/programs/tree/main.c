// tree: builds a binary tree, walks and sums it several times, and frees it.
#include <inttypes.h>
#include <stdio.h>

#include "common/args.h"
#include "common/checksum.h"
#include "tree/tree.h"

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"nodes", 0, 1000000000, 0}, {"walks", 0, 1000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const uint64_t nodes = (uint64_t)arguments[0].value;
  const long walks = arguments[1].value;

  Rng rng = {(uint64_t)arguments[2].value};
  Tree* tree = tree_build(&rng, nodes);
  uint64_t sum = 0;
  uint64_t checksum = 0;
  for (long i = 0; i < walks; ++i) {
    sum = tree_walk(tree, 0);
    checksum = checksum_add(checksum, sum);
  }
  tree_free(tree);
  printf("tree: sum %" PRIu64 " of %" PRIu64 " nodes\nchecksum %016" PRIx64 "\n", sum, nodes,
         checksum);
  return 0;
}
