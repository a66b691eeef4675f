// Linear arrangement of a graph's vertices by its Fiedler vector (Juvan and Mohar, Discrete Applied
// Mathematics 36, 1992): neighbours with heavy edges come close to each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "studies/layouts/access_graph.h"

namespace halo::layout {

// An eigenvector of the second smallest eigenvalue of the weighted Laplacian of a connected graph,
// of length 1. Up to kExact vertices by rotations (Jacobi); beyond, the graph is coarsened along
// heavy edges, and each level's vector is refined by conjugate gradients (Knyazev, SIAM J. Sci.
// Comput. 23, 2001).
std::vector<double> fiedler_vector(const Graph& graph);
inline constexpr size_t kExact = 24;

// The vertices of the graph in order: those of each connected component by the Fiedler vector, from
// the end with the smaller vertex on; components by their smallest vertex. Vertices with equal
// entries, and those of components of two, in ascending order.
std::vector<uint32_t> spectral_order(const Graph& graph);

// The same for the subgraph of some vertices, which are ascending.
std::vector<uint32_t> spectral_order(const Graph& graph, std::span<const uint32_t> vertices);

}  // namespace halo::layout
