// What a scene is made of: shapes, each placed by a transform, and composites of shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "scene/memory.h"

namespace scene {

struct Vector {
  float x = 0;
  float y = 0;
  float z = 0;
};

// Moves, turns about the vertical axis, and scales.
struct Transform {
  Vector scale;
  Vector offset;
  float cosine;
  float sine;
  float shrink;  // the least of the scales undone: turns a local distance into a safe bound

  Vector to_local(const Vector& point) const;

  static void* operator new(size_t size) { return allocate(size, "a transform"); }
  static void operator delete(void* memory) { release(memory); }
};

class Shape {
 public:
  Shape(std::unique_ptr<Transform> transform, uint32_t material)
      : transform_(std::move(transform)), material_(material) {}
  virtual ~Shape() = default;
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  // Negative inside, about the distance from the surface outside.
  float distance(const Vector& point) const {
    return local_distance(transform_->to_local(point)) * transform_->shrink;
  }
  uint32_t material() const { return material_; }

  static void* operator new(size_t size) { return allocate(size, "a shape"); }
  static void operator delete(void* memory) { release(memory); }

  // The next one of the same scene or composite, which owns the whole list.
  Shape* sibling = nullptr;

 private:
  virtual float local_distance(const Vector& point) const = 0;

  std::unique_ptr<Transform> transform_;
  uint32_t material_;
};

// The shapes of a scene or of a composite, the last one first.
class ShapeList {
 public:
  ShapeList() = default;
  ~ShapeList();
  ShapeList(const ShapeList&) = delete;
  ShapeList& operator=(const ShapeList&) = delete;

  void push(std::unique_ptr<Shape> shape);
  const Shape* first() const { return first_; }

 private:
  Shape* first_ = nullptr;
};

enum class Operation : uint32_t { kUnion, kIntersection, kDifference };

class Composite : public Shape {
 public:
  Composite(std::unique_ptr<Transform> transform, uint32_t material, Operation operation)
      : Shape(std::move(transform), material), operation_(operation) {}

  void add(std::unique_ptr<Shape> part) { parts_.push(std::move(part)); }

 private:
  float local_distance(const Vector& point) const override;

  ShapeList parts_;
  Operation operation_;
};

std::unique_ptr<Transform> create_transform(const Vector& scale, const Vector& offset, float angle);
std::unique_ptr<Shape> create_sphere(std::unique_ptr<Transform> transform, uint32_t material,
                                     float radius);
std::unique_ptr<Shape> create_box(std::unique_ptr<Transform> transform, uint32_t material,
                                  const Vector& half_size);
std::unique_ptr<Shape> create_plane(std::unique_ptr<Transform> transform, uint32_t material,
                                    const Vector& normal, float height);
std::unique_ptr<Composite> create_composite(std::unique_ptr<Transform> transform, uint32_t material,
                                            Operation operation);

}  // namespace scene
