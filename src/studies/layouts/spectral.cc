// Fiedler vectors, exact for small graphs and by coarsening for large ones.
#include "studies/layouts/spectral.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace halo::layout {

namespace {

using Vector = std::vector<double>;
constexpr uint32_t kNone = UINT32_MAX;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(Vector& to, double factor, const Vector& other) {
  for (size_t at = 0; at < to.size(); ++at) to[at] += factor * other[at];
}

// Returns false if nothing is left of the vector.
bool normalise(Vector& vector) {
  const double length = std::sqrt(dot(vector, vector));
  if (!(length > 1e-12)) return false;
  for (double& one : vector) one /= length;
  return true;
}

// Subtracts the mean: the Laplacian's eigenvector of the eigenvalue 0 is constant.
void centre(Vector& vector) {
  const double mean = std::accumulate(vector.begin(), vector.end(), 0.0) / double(vector.size());
  for (double& one : vector) one -= mean;
}

Vector degrees(const Graph& graph) {
  Vector found(graph.vertices());
  for (uint32_t vertex = 0; vertex < found.size(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex)) found[vertex] += edge.weight;
  return found;
}

// The Laplacian times a vector.
Vector laplacian(const Graph& graph, const Vector& degree, const Vector& x) {
  Vector found(x.size());
  for (uint32_t vertex = 0; vertex < x.size(); ++vertex) {
    double sum = degree[vertex] * x[vertex];
    for (const Graph::Edge& edge : graph.row(vertex)) sum -= edge.weight * x[edge.to];
    found[vertex] = sum;
  }
  return found;
}

// A dense symmetric matrix, row by row.
struct Matrix {
  explicit Matrix(size_t n) : size(n), cells(n * n) {}
  double& at(size_t row, size_t column) { return cells[row * size + column]; }
  size_t size;
  Vector cells;
};

// Diagonalises `matrix` by cyclic Jacobi rotations; columns of the result are the eigenvectors.
Matrix eigenvectors(Matrix& matrix) {
  const size_t n = matrix.size;
  Matrix vectors(n);
  for (size_t at = 0; at < n; ++at) vectors.at(at, at) = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (size_t p = 0; p < n; ++p)
      for (size_t q = 0; q < n; ++q) (p == q ? on : off) += matrix.at(p, q) * matrix.at(p, q);
    if (off <= 1e-26 * on) break;
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        if (matrix.at(p, q) == 0) continue;
        const double theta = (matrix.at(q, q) - matrix.at(p, p)) / (2 * matrix.at(p, q));
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (size_t k = 0; k < n; ++k) {
          const double left = matrix.at(k, p), right = matrix.at(k, q);
          matrix.at(k, p) = c * left - s * right;
          matrix.at(k, q) = s * left + c * right;
        }
        for (size_t k = 0; k < n; ++k) {
          const double left = matrix.at(p, k), right = matrix.at(q, k);
          matrix.at(p, k) = c * left - s * right;
          matrix.at(q, k) = s * left + c * right;
        }
        for (size_t k = 0; k < n; ++k) {
          const double left = vectors.at(k, p), right = vectors.at(k, q);
          vectors.at(k, p) = c * left - s * right;
          vectors.at(k, q) = s * left + c * right;
        }
      }
  }
  return vectors;
}

Vector exact_vector(const Graph& graph) {
  const size_t n = graph.vertices();
  const Vector degree = degrees(graph);
  Matrix matrix(n);
  for (uint32_t vertex = 0; vertex < n; ++vertex) {
    matrix.at(vertex, vertex) = degree[vertex];
    for (const Graph::Edge& edge : graph.row(vertex))
      matrix.at(vertex, edge.to) = -double(edge.weight);
  }
  Matrix vectors = eigenvectors(matrix);
  std::vector<size_t> columns(n);
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](size_t a, size_t b) { return matrix.at(a, a) < matrix.at(b, b); });
  Vector found(n);
  for (size_t at = 0; at < n; ++at) found[at] = vectors.at(at, columns[1]);
  return found;
}

// Joins each vertex with its heaviest neighbour that is free: the number of the pair, by vertex.
std::vector<uint32_t> match(const Graph& graph, uint32_t& count) {
  std::vector<uint32_t> pair(graph.vertices(), kNone);
  count = 0;
  for (uint32_t vertex = 0; vertex < pair.size(); ++vertex) {
    if (pair[vertex] != kNone) continue;
    pair[vertex] = count;
    uint32_t heaviest = 0, chosen = kNone;
    for (const Graph::Edge& edge : graph.row(vertex))
      if (pair[edge.to] == kNone && edge.weight > heaviest) {
        heaviest = edge.weight;
        chosen = edge.to;
      }
    if (chosen != kNone) pair[chosen] = count;
    ++count;
  }
  // A star has one pair only: its free vertices join the pair of a neighbour.
  if (count > graph.vertices() * 3 / 4) {
    std::vector<uint32_t> size(count), number(count, kNone);
    for (const uint32_t one : pair) ++size[one];
    for (uint32_t vertex = 0; vertex < pair.size(); ++vertex) {
      const auto row = graph.row(vertex);
      if (size[pair[vertex]] != 1 || row.empty()) continue;
      const auto heaviest = std::max_element(row.begin(), row.end(),
                                             [](auto& a, auto& b) { return a.weight < b.weight; });
      pair[vertex] = pair[heaviest->to];
      ++size[pair[vertex]];
    }
    count = 0;
    for (uint32_t& one : pair) {
      if (number[one] == kNone) number[one] = count++;
      one = number[one];
    }
  }
  return pair;
}

Graph coarsened(const Graph& graph, const std::vector<uint32_t>& pair, uint32_t count) {
  std::vector<WeightedPair> pairs;
  for (uint32_t vertex = 0; vertex < pair.size(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex)) {
      const uint32_t a = pair[vertex], b = pair[edge.to];
      if (a < b) pairs.push_back({a, b, edge.weight});
    }
  std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.pair() < b.pair(); });
  size_t last = 0;
  for (size_t at = 0; at < pairs.size(); ++at) {
    if (at == 0 || pairs[at].pair() != pairs[last].pair()) {
      last = at == 0 ? 0 : last + 1;
      pairs[last] = pairs[at];
    } else {
      const uint64_t sum = uint64_t{pairs[last].weight} + pairs[at].weight;
      pairs[last].weight = uint32_t(std::min<uint64_t>(sum, UINT32_MAX));
    }
  }
  if (!pairs.empty()) pairs.resize(last + 1);
  return make_graph(count, pairs);
}

// Refines a centred vector of length 1 in the space of itself, its residual and the last step.
void refine(const Graph& graph, Vector& x) {
  constexpr size_t kMinSteps = 60, kMaxSteps = 1000;
  constexpr size_t kWork = size_t{1} << 22;  // entries to read, if more than kMinSteps
  constexpr double kSmall = 1e-9;
  const size_t steps =
      std::clamp(kWork / (graph.vertices() + graph.edges.size()), kMinSteps, kMaxSteps);
  const Vector degree = degrees(graph);
  Vector step;
  for (size_t round = 0; round < steps; ++round) {
    const Vector image = laplacian(graph, degree, x);
    const double value = dot(x, image);
    Vector residual = image;
    add(residual, -value, x);
    if (std::sqrt(dot(residual, residual)) <= kSmall * std::max(value, 1e-30)) return;
    for (size_t at = 0; at < residual.size(); ++at) residual[at] /= std::max(degree[at], 1.0);
    std::vector<Vector> basis = {x};
    for (Vector* one : {&residual, &step}) {
      if (one->empty()) continue;
      centre(*one);
      if (!normalise(*one)) continue;
      for (int twice = 0; twice < 2; ++twice)
        for (const Vector& other : basis) add(*one, -dot(*one, other), other);
      if (normalise(*one)) basis.push_back(*one);
    }
    if (basis.size() == 1) return;
    std::vector<Vector> images = {image};
    for (size_t at = 1; at < basis.size(); ++at)
      images.push_back(laplacian(graph, degree, basis[at]));
    Matrix small(basis.size());
    for (size_t a = 0; a < basis.size(); ++a)
      for (size_t b = 0; b < basis.size(); ++b)
        small.at(a, b) = (dot(basis[a], images[b]) + dot(basis[b], images[a])) / 2;
    Matrix vectors = eigenvectors(small);
    size_t least = 0;
    for (size_t at = 1; at < basis.size(); ++at)
      if (small.at(at, at) < small.at(least, least)) least = at;
    Vector next(x.size());
    step.assign(x.size(), 0);
    for (size_t at = 0; at < basis.size(); ++at) {
      add(next, vectors.at(at, least), basis[at]);
      if (at != 0) add(step, vectors.at(at, least), basis[at]);
    }
    x = std::move(next);
    centre(x);
    normalise(x);
  }
}

// The induced subgraph; vertices are numbered by their place in `vertices`.
Graph subgraph(const Graph& graph, std::span<const uint32_t> vertices) {
  std::unordered_map<uint32_t, uint32_t> place;
  for (uint32_t at = 0; at < vertices.size(); ++at) place[vertices[at]] = at;
  Graph found;
  for (const uint32_t vertex : vertices) {
    for (const Graph::Edge& edge : graph.row(vertex))
      if (const auto to = place.find(edge.to); to != place.end())
        found.edges.push_back({to->second, edge.weight});
    found.begin.push_back(found.edges.size());
  }
  return found;
}

// The component of each vertex, numbered by their smallest vertices.
std::vector<std::vector<uint32_t>> components(const Graph& graph) {
  std::vector<bool> seen(graph.vertices());
  std::vector<std::vector<uint32_t>> found;
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    if (seen[vertex]) continue;
    std::vector<uint32_t> part = {vertex};
    seen[vertex] = true;
    for (size_t at = 0; at < part.size(); ++at)
      for (const Graph::Edge& edge : graph.row(part[at]))
        if (!seen[edge.to]) {
          seen[edge.to] = true;
          part.push_back(edge.to);
        }
    std::sort(part.begin(), part.end());
    found.push_back(std::move(part));
  }
  return found;
}

// Of a connected graph of more than two vertices.
std::vector<uint32_t> ordered(const Graph& graph) {
  const Vector vector = fiedler_vector(graph);
  std::vector<uint32_t> order(graph.vertices());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return vector[a] < vector[b]; });
  if (order.front() > order.back()) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<double> fiedler_vector(const Graph& graph) {
  if (graph.vertices() <= kExact) return exact_vector(graph);
  uint32_t count = 0;
  const std::vector<uint32_t> pair = match(graph, count);
  Vector found(graph.vertices());
  if (count > 1) {
    const Vector coarse = fiedler_vector(coarsened(graph, pair, count));
    for (size_t at = 0; at < found.size(); ++at) found[at] = coarse[pair[at]];
  }
  centre(found);
  if (!normalise(found)) {  // a star, which is one pair
    std::iota(found.begin(), found.end(), 0.0);
    centre(found);
    normalise(found);
  }
  refine(graph, found);
  return found;
}

std::vector<uint32_t> spectral_order(const Graph& graph) {
  std::vector<uint32_t> all(graph.vertices());
  std::iota(all.begin(), all.end(), 0);
  return spectral_order(graph, all);
}

std::vector<uint32_t> spectral_order(const Graph& graph, std::span<const uint32_t> vertices) {
  if (vertices.size() <= 2) return {vertices.begin(), vertices.end()};
  const Graph whole = subgraph(graph, vertices);
  std::vector<uint32_t> order;
  for (const std::vector<uint32_t>& part : components(whole)) {
    if (part.size() <= 2) {
      for (const uint32_t at : part) order.push_back(vertices[at]);
      continue;
    }
    const bool all = part.size() == whole.vertices();
    for (const uint32_t at : ordered(all ? whole : subgraph(whole, part)))
      order.push_back(vertices[part[at]]);
  }
  return order;
}

}  // namespace halo::layout
