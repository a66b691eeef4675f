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
  std::vector<uint32_t> others;  // the neighbours of all lines
  std::vector<Node*> lines;      // in the order of the file
  for (; at != end; ++at) {
    const uint32_t id = take_id();
    const size_t first = others.size();
    while (at != end && *at == ' ') {
      ++at;
      others.push_back(take_id());
    }
    if (at == end || *at != '\n') throw std::runtime_error(path + " has a line without an end.");
    if (id >= nodes_.size()) nodes_.resize(id + 1);
    if (nodes_[id] != nullptr) throw std::runtime_error(path + " has an id twice.");
    nodes_[id] = std::make_unique<Node>();
    nodes_[id]->id = id;
    nodes_[id]->neighbours.resize(others.size() - first);
    lines.push_back(nodes_[id].get());
  }
  link(lines, others, path);
}

void Graph::link(const std::vector<Node*>& lines, const std::vector<uint32_t>& others,
                 const std::string& path) {
  for (const auto& node : nodes_)
    if (node == nullptr) throw std::runtime_error(path + " lacks a node.");
  size_t edge = 0;
  for (Node* const node : lines) {
    for (Node*& neighbour : node->neighbours) {
      const uint32_t other = others[edge++];
      if (other >= nodes_.size()) throw std::runtime_error(path + " has an edge to no node.");
      neighbour = nodes_[other].get();
    }
  }
}

}  // namespace graph
