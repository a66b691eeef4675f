// Builds a mesh from its file, one object at a time.
#include "mesh/mesh.h"

#include <algorithm>
#include <cstddef>

namespace mesh {

namespace {

bool has_point(const Triangle& triangle, const Node* node) {
  return std::find(triangle.points.begin(), triangle.points.end(), node) != triangle.points.end();
}

// The other triangle on the side from `a` to `b`.
Triangle* across(const Triangle& triangle, const Node& a, const Node& b) {
  for (Triangle* candidate : a.triangles) {
    if (candidate != &triangle && has_point(*candidate, &b)) {
      return candidate;
    }
  }
  return nullptr;
}

}  // namespace

Mesh::Mesh(const MeshFile& file) {
  for (const MeshFile::NodeRecord& record : file.nodes) {
    const Place place(record.x, record.y);
    nodes_.push_back(make<Node>(record.x, record.y, std::vector<Triangle*>()));
  }
  for (const MeshFile::TriangleRecord& record : file.triangles) {
    add_triangle(record);
  }
  find_neighbours();
}

void Mesh::add_triangle(const MeshFile::TriangleRecord& record) {
  const Node& corner = *nodes_[record[0]];
  const Place place(corner.x, corner.y);
  auto triangle = make<Triangle>();
  for (size_t i = 0; i < record.size(); ++i) {
    Node* node = nodes_[record[i]].get();
    triangle->points[i] = node;
    node->triangles.push_back(triangle.get());
  }
  triangles_.push_back(std::move(triangle));
}

void Mesh::find_neighbours() {
  for (const auto& triangle : triangles_) {
    for (size_t i = 0; i < 3; ++i) {
      const Node& a = *triangle->points[i];
      const Node& b = *triangle->points[(i + 1) % 3];
      triangle->neighbours[i] = across(*triangle, a, b);
    }
  }
}

}  // namespace mesh
