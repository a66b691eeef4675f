// Sorts and merges counted pairs.
#include "studies/layouts/access_graph.h"

#include <algorithm>
#include <functional>

namespace halo::layout {

namespace {

uint32_t saturated(uint64_t weight) { return uint32_t(std::min<uint64_t>(weight, UINT32_MAX)); }

std::vector<WeightedPair> merged_runs(std::span<const WeightedPair> a,
                                      std::span<const WeightedPair> b) {
  std::vector<WeightedPair> both;
  both.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (left->pair() == right->pair()) {
      both.push_back({left->low, left->high, saturated(uint64_t{left->weight} + right->weight)});
      ++left, ++right;
    } else {
      both.push_back(left->pair() < right->pair() ? *left++ : *right++);
    }
  }
  both.insert(both.end(), left, a.end());
  both.insert(both.end(), right, b.end());
  return both;
}

}  // namespace

Graph make_graph(size_t vertices, std::span<const WeightedPair> pairs) {
  Graph graph;
  graph.begin.assign(vertices + 1, 0);
  for (const WeightedPair& one : pairs) {
    ++graph.begin[size_t{one.low} + 1];
    ++graph.begin[size_t{one.high} + 1];
  }
  for (size_t vertex = 0; vertex < vertices; ++vertex)
    graph.begin[vertex + 1] += graph.begin[vertex];
  graph.edges.resize(graph.begin[vertices]);
  std::vector<uint64_t> next(graph.begin.begin(), graph.begin.end() - 1);
  // Ascending pairs: each row gets its smaller neighbours first, then its greater ones.
  for (const WeightedPair& one : pairs) graph.edges[next[one.high]++] = {one.low, one.weight};
  for (const WeightedPair& one : pairs) graph.edges[next[one.low]++] = {one.high, one.weight};
  return graph;
}

std::vector<uint32_t> find_hubs(const Graph& graph) {
  constexpr size_t kEnough = 1000;
  std::vector<uint32_t> hubs;
  if (graph.vertices() < kEnough) return hubs;
  std::vector<uint64_t> weight(graph.vertices());
  uint64_t all = 0;
  for (uint32_t vertex = 0; vertex < weight.size(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex)) {
      weight[vertex] += edge.weight;
      all += edge.weight;
    }
  for (uint32_t vertex = 0; vertex < weight.size(); ++vertex)
    if (weight[vertex] * 200 > all) hubs.push_back(vertex);  // `all` has each edge twice
  return hubs;
}

Graph without(const Graph& graph, std::span<const uint32_t> vertices) {
  std::vector<bool> left_out(graph.vertices());
  for (const uint32_t vertex : vertices) left_out[vertex] = true;
  Graph rest;
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Graph::Edge& edge : graph.row(vertex))
      if (!left_out[vertex] && !left_out[edge.to]) rest.edges.push_back(edge);
    rest.begin.push_back(rest.edges.size());
  }
  return rest;
}

void PairCounter::flush() {
  std::sort(buffer_.begin(), buffer_.end());
  std::vector<WeightedPair> run;
  for (const uint64_t pair : buffer_) {
    if (run.empty() || run.back().pair() != pair)
      run.push_back({uint32_t(pair >> 32), uint32_t(pair), 0});
    ++run.back().weight;
  }
  added_ += buffer_.size();
  buffer_.clear();
  run_ = merged_runs(run_, run);
  if (run_.size() * 2 >= merged_.size()) merge();
}

void PairCounter::merge() {
  merged_ = merged_runs(merged_, run_);
  run_.clear();
  if (merged_.size() > maximum_) drop_lightest();
}

// Of equal weights, those in front are kept.
void PairCounter::drop_lightest() {
  const size_t kept = maximum_ - maximum_ / 4;
  std::vector<uint32_t> weights;
  weights.reserve(merged_.size());
  for (const WeightedPair& one : merged_) weights.push_back(one.weight);
  const auto nth = weights.begin() + ptrdiff_t(kept - 1);
  std::nth_element(weights.begin(), nth, weights.end(), std::greater<>());
  const uint32_t lightest = *nth;
  auto room = kept - size_t(std::count_if(weights.begin(), nth,
                                          [&](uint32_t weight) { return weight > lightest; }));
  std::erase_if(merged_, [&](const WeightedPair& one) {
    if (one.weight > lightest) return false;
    if (one.weight == lightest && room != 0) {
      --room;
      return false;
    }
    dropped_ += one.weight;
    return true;
  });
}

std::vector<WeightedPair> PairCounter::take() {
  flush();
  merge();
  return std::move(merged_);
}

}  // namespace halo::layout
