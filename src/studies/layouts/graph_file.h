// Writes an access graph as text, for other programs.
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

#include "studies/layouts/access_graph.h"
#include "studies/layouts/orders.h"

namespace halo::layout {

// GraphML, DOT, or the text of METIS, by the ending of the file's name. Vertices have the
// allocation number, context, size, and community of the finest level (none in METIS, which has
// the vertices by number); edges have their weight. Hubs and their edges are included.
struct GraphFormat {
  std::string_view ending;
  void (*write)(const Graph& graph, const Subject& subject, FILE* file);
};

void write_graphml(const Graph& graph, const Subject& subject, FILE* file);
void write_dot(const Graph& graph, const Subject& subject, FILE* file);
void write_metis(const Graph& graph, const Subject& subject, FILE* file);

inline constexpr GraphFormat kGraphFormats[] = {
    {".graphml", write_graphml},
    {".dot", write_dot},
    {".metis", write_metis},
};

}  // namespace halo::layout
