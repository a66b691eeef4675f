// Traverses a graph. A visit count marks what is reached, so that nothing has to be cleared.
#include "common/checksum.h"
#include "graph/graph.h"

namespace graph {

uint64_t breadth_first(Graph& graph, Node& start, uint64_t checksum) {
  std::vector<Node*> queue;
  queue.reserve(graph.size());
  const uint32_t visit = ++start.visits;
  queue.push_back(&start);
  for (size_t at = 0; at < queue.size(); ++at) {
    checksum = checksum_add(checksum, queue[at]->id);
    for (Node* const other : queue[at]->neighbours) {
      if (other->visits == visit) continue;
      other->visits = visit;
      queue.push_back(other);
    }
  }
  return checksum;
}

uint64_t depth_first(Graph& graph, Node& start, uint64_t checksum) {
  std::vector<Node*> stack;
  stack.reserve(graph.size());
  const uint32_t visit = start.visits + 1;
  stack.push_back(&start);
  while (!stack.empty()) {
    Node& node = *stack.back();
    stack.pop_back();
    if (node.visits == visit) continue;
    node.visits = visit;
    checksum = checksum_add(checksum, node.id);
    for (size_t edge = node.neighbours.size(); edge-- > 0;)
      if (node.neighbours[edge]->visits != visit) stack.push_back(node.neighbours[edge]);
  }
  return checksum;
}

}  // namespace graph
