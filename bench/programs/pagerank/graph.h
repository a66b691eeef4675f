// A directed graph whose nodes and edges are each an object of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "pagerank/memory.h"

namespace pagerank {

using NodeId = uint32_t;

struct Edge {
  NodeId source;
  NodeId target;
  float weight;
};

struct Node {
  NodeId id;
  float rank;
  std::vector<Edge*> in_edges;
  std::vector<Edge*> out_edges;
};

struct Link {
  NodeId source;
  NodeId target;
};

// A list of links in random order, where few nodes are the target of many links.
std::vector<Link> generate_links(NodeId nodes, uint32_t links, uint64_t seed);

class Graph {
 public:
  Graph(NodeId nodes, const std::vector<Link>& links);

  const std::vector<Owner<Node>>& nodes() const { return nodes_; }

 private:
  std::vector<Owner<Node>> nodes_;
  std::vector<Owner<Edge>> edges_;
};

}  // namespace pagerank
