// The kinds of shape, and how far a point is from each.
#include "scene/shapes.h"

#include <algorithm>
#include <cmath>

namespace scene {

namespace {

class Sphere : public Shape {
 public:
  Sphere(std::unique_ptr<Transform> transform, uint32_t material, float radius)
      : Shape(std::move(transform), material), radius_(radius), square_(radius * radius) {}

 private:
  // Avoids the root: a bound is enough to find the nearest shape.
  float local_distance(const Vector& point) const override {
    const float square = point.x * point.x + point.y * point.y + point.z * point.z;
    return (square - square_) / (radius_ + radius_);
  }

  float radius_;
  float square_;
};

class Box : public Shape {
 public:
  Box(std::unique_ptr<Transform> transform, uint32_t material, const Vector& half_size)
      : Shape(std::move(transform), material), half_size_(half_size) {}

 private:
  float local_distance(const Vector& point) const override {
    return std::max({std::fabs(point.x) - half_size_.x, std::fabs(point.y) - half_size_.y,
                     std::fabs(point.z) - half_size_.z});
  }

  Vector half_size_;
};

class Plane : public Shape {
 public:
  Plane(std::unique_ptr<Transform> transform, uint32_t material, const Vector& normal, float height)
      : Shape(std::move(transform), material), normal_(normal), height_(height) {}

 private:
  float local_distance(const Vector& point) const override {
    return point.x * normal_.x + point.y * normal_.y + point.z * normal_.z - height_;
  }

  Vector normal_;
  float height_;
};

}  // namespace

Vector Transform::to_local(const Vector& point) const {
  const float x = point.x - offset.x;
  const float z = point.z - offset.z;
  return {(x * cosine + z * sine) * scale.x, (point.y - offset.y) * scale.y,
          (z * cosine - x * sine) * scale.z};
}

void ShapeList::push(std::unique_ptr<Shape> shape) {
  shape->sibling = first_;
  first_ = shape.release();
}

float Composite::local_distance(const Vector& point) const {
  const Shape* part = parts_.first();
  float result = part->distance(point);
  while ((part = part->sibling) != nullptr) {
    const float other = part->distance(point);
    switch (operation_) {
      case Operation::kUnion:
        result = std::min(result, other);
        break;
      case Operation::kIntersection:
        result = std::max(result, other);
        break;
      case Operation::kDifference:
        result = std::max(result, -other);
        break;
    }
  }
  return result;
}

std::unique_ptr<Transform> create_transform(const Vector& scale, const Vector& offset,
                                            float angle) {
  const float shrink = 1 / std::max({scale.x, scale.y, scale.z});
  return std::unique_ptr<Transform>(
      new Transform{scale, offset, std::cos(angle), std::sin(angle), shrink});
}

std::unique_ptr<Shape> create_sphere(std::unique_ptr<Transform> transform, uint32_t material,
                                     float radius) {
  return std::make_unique<Sphere>(std::move(transform), material, radius);
}

std::unique_ptr<Shape> create_box(std::unique_ptr<Transform> transform, uint32_t material,
                                  const Vector& half_size) {
  return std::make_unique<Box>(std::move(transform), material, half_size);
}

std::unique_ptr<Shape> create_plane(std::unique_ptr<Transform> transform, uint32_t material,
                                    const Vector& normal, float height) {
  return std::make_unique<Plane>(std::move(transform), material, normal, height);
}

std::unique_ptr<Composite> create_composite(std::unique_ptr<Transform> transform, uint32_t material,
                                            Operation operation) {
  return std::make_unique<Composite>(std::move(transform), material, operation);
}

}  // namespace scene
