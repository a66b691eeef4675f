// Reads a graph.
#include "graph/graph.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace graph {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read.");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Graph::Graph(const std::string& path) {
  const std::string text = contents(path);
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto take_id = [&] {
    uint32_t id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc{} || id >= text.size()) throw std::runtime_error(path + " has no id.");
    at = stop;
    return id;
  };
  std::vector<std::vector<uint32_t>> edges;
  for (; at != end; ++at) {
    const uint32_t id = take_id();
    if (id >= nodes_.size()) {
      nodes_.resize(id + 1);
      edges.resize(id + 1);
    }
    while (at != end && *at == ' ') {
      ++at;
      edges[id].push_back(take_id());
    }
    if (at == end || *at != '\n') throw std::runtime_error(path + " has a line without an end.");
    nodes_[id] = std::make_unique<Node>();
    nodes_[id]->id = id;
    nodes_[id]->neighbours.resize(edges[id].size());
  }
  for (size_t id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id] == nullptr) throw std::runtime_error(path + " lacks a node.");
    for (size_t edge = 0; edge < edges[id].size(); ++edge) {
      const uint32_t other = edges[id][edge];
      if (other >= nodes_.size()) throw std::runtime_error(path + " has an edge to no node.");
      nodes_[id]->neighbours[edge] = nodes_[other].get();
    }
  }
}

}  // namespace graph
