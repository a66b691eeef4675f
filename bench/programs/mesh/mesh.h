// A plane mesh of triangles, each of its nodes and triangles an object of its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/memory.h"

namespace mesh {

struct Triangle;

struct Node {
  double x;
  double y;
  std::vector<Triangle*> triangles;  // all that meet here
};

struct Triangle {
  std::array<Node*, 3> points;
  std::array<Triangle*, 3> neighbours;  // null at the border of the mesh
  uint32_t visits = 0;
};

// What a mesh generator writes: nodes and triangles in no useful order.
struct MeshFile {
  struct NodeRecord {
    double x;
    double y;
  };
  using TriangleRecord = std::array<uint32_t, 3>;  // node numbers

  std::vector<NodeRecord> nodes;
  std::vector<TriangleRecord> triangles;
};

MeshFile generate_file(uint32_t columns, uint32_t rows, uint64_t seed);

class Mesh {
 public:
  explicit Mesh(const MeshFile& file);

  Triangle& first_triangle() { return *triangles_.front(); }
  const std::vector<Owner<Triangle>>& triangles() const { return triangles_; }

 private:
  void add_triangle(const MeshFile::TriangleRecord& record);
  void find_neighbours();

  std::vector<Owner<Node>> nodes_;
  std::vector<Owner<Triangle>> triangles_;
};

}  // namespace mesh
