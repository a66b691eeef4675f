// A graph whose nodes are separate objects, in the order of its file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace graph {

struct Node {
  uint32_t id = 0;
  uint32_t visits = 0;
  std::vector<Node*> neighbours;
};

class Graph {
 public:
  // A line for each node: its id, and those of its neighbours. Ids are 0, 1, ..., in any order.
  // Throws std::runtime_error with one sentence if the file is not that.
  explicit Graph(const std::string& path);

  size_t size() const { return nodes_.size(); }
  Node& node(size_t id) const { return *nodes_[id]; }

 private:
  // Sets the neighbours of each line's node to the next of `others`, which are ids.
  void link(const std::vector<Node*>& lines, const std::vector<uint32_t>& others,
            const std::string& path);

  std::vector<std::unique_ptr<Node>> nodes_;  // by id
};

// Visits every node that can be reached once, and adds its id and its place to the checksum.
uint64_t breadth_first(Graph& graph, Node& start, uint64_t checksum);
uint64_t depth_first(Graph& graph, Node& start, uint64_t checksum);

}  // namespace graph
