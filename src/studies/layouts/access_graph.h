// The access graph: objects that are used next to each other (Miucin, section 3.2,
// definition 3.2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halo::layout {

// An undirected graph with weights, without self-loops, as compressed rows: each edge is in the
// rows of both of its vertices. Rows are sorted by neighbour.
struct Graph {
  struct Edge {
    uint32_t to;
    uint32_t weight;
  };

  std::vector<uint64_t> begin = {0};  // by vertex: its row begins here; one more at the end
  std::vector<Edge> edges;

  size_t vertices() const { return begin.size() - 1; }
  std::span<const Edge> row(uint32_t vertex) const {
    return std::span(edges).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }
};

struct WeightedPair {
  uint32_t low, high;  // vertices
  uint32_t weight;

  uint64_t pair() const { return uint64_t{low} << 32 | high; }
};
static_assert(sizeof(WeightedPair) == 12);

// Pairs in ascending order, each once.
Graph make_graph(size_t vertices, std::span<const WeightedPair> pairs);

// Vertices whose edges have more than a hundredth of all weight, such as the head of a list that
// alternates with its items. They would pull everything into one community. None in graphs of
// fewer than 1000 vertices, in which a hundredth is usual.
std::vector<uint32_t> find_hubs(const Graph& graph);

// The graph without the edges of these vertices.
Graph without(const Graph& graph, std::span<const uint32_t> vertices);

// Counts pairs of vertices. Pairs are buffered, sorted and merged, so memory is 12 bytes a distinct
// pair, and about three times that while runs are merged. Beyond `maximum` distinct pairs, the
// lightest are dropped.
class PairCounter {
 public:
  explicit PairCounter(size_t maximum = size_t{1} << 26) : maximum_(maximum) {
    buffer_.reserve(kBuffer);
  }

  // Two different vertices.
  void add(uint32_t a, uint32_t b) {
    buffer_.push_back(a < b ? uint64_t{a} << 32 | b : uint64_t{b} << 32 | a);
    if (buffer_.size() == kBuffer) [[unlikely]]
      flush();
  }

  // All pairs, ascending.
  std::vector<WeightedPair> take();
  // The weight of dropped pairs, and of all.
  uint64_t dropped() const { return dropped_; }
  uint64_t added() const { return added_; }

 private:
  static constexpr size_t kBuffer = size_t{1} << 22;

  void flush();
  void merge();
  void drop_lightest();

  size_t maximum_;
  std::vector<uint64_t> buffer_;
  std::vector<WeightedPair> run_;     // the newest pairs, merged
  std::vector<WeightedPair> merged_;  // all before
  uint64_t dropped_ = 0, added_ = 0;
};

}  // namespace halo::layout
