// The formats of exported access graphs.
#include "studies/layouts/graph_file.h"

#include <cinttypes>

namespace halo::layout {

namespace {

// Calls visit(a, b, weight) for each edge once.
template <class Visit>
void for_each_edge(const Graph& graph, const Visit& visit) {
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex)
    for (const Graph::Edge& edge : graph.row(vertex))
      if (vertex < edge.to) visit(vertex, edge.to, edge.weight);
}

}  // namespace

void write_graphml(const Graph& graph, const Subject& subject, FILE* file) {
  fputs(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
      file);
  for (const char* key : {"object", "context", "size", "community"})
    fprintf(file, "<key id=\"%s\" for=\"node\" attr.name=\"%s\" attr.type=\"long\"/>\n", key, key);
  fputs(
      "<key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\n"
      "<graph edgedefault=\"undirected\">\n",
      file);
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    const uint64_t number = subject.numbers[vertex];
    const ObjectFacts& one = subject.facts[number];
    fprintf(file,
            "<node id=\"%u\"><data key=\"object\">%" PRIu64
            "</data><data key=\"context\">%u</data><data key=\"size\">%u</data>"
            "<data key=\"community\">%u</data></node>\n",
            vertex, number, one.context, one.size, same_community(subject, number));
  }
  for_each_edge(graph, [&](uint32_t a, uint32_t b, uint32_t weight) {
    fprintf(file, "<edge source=\"%u\" target=\"%u\"><data key=\"weight\">%u</data></edge>\n", a, b,
            weight);
  });
  fputs("</graph>\n</graphml>\n", file);
}

void write_dot(const Graph& graph, const Subject& subject, FILE* file) {
  fputs("graph objects {\n", file);
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    const uint64_t number = subject.numbers[vertex];
    const ObjectFacts& one = subject.facts[number];
    fprintf(file, "%u [object=%" PRIu64 ", context=%u, size=%u, community=%u];\n", vertex, number,
            one.context, one.size, same_community(subject, number));
  }
  for_each_edge(graph, [&](uint32_t a, uint32_t b, uint32_t weight) {
    fprintf(file, "%u -- %u [weight=%u];\n", a, b, weight);
  });
  fputs("}\n", file);
}

// Its numbers begin at 1; format 1: edges have weights.
void write_metis(const Graph& graph, const Subject&, FILE* file) {
  fprintf(file, "%zu %zu 1\n", graph.vertices(), graph.edges.size() / 2);
  for (uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    const char* separator = "";
    for (const Graph::Edge& edge : graph.row(vertex)) {
      fprintf(file, "%s%u %u", separator, edge.to + 1, edge.weight);
      separator = " ";
    }
    fputc('\n', file);
  }
}

}  // namespace halo::layout
