// How the variant of the graph allocates: each object near others of the same node.
#pragma once

#include <cstdint>

#include "common/tidy.h"

namespace pagerank {

using variant::make;
using variant::Owner;

inline variant::Objects& objects() {
  static variant::Objects all(1);
  return all;
}

// What is allocated while it exists belongs to that node.
class Place {
 public:
  explicit Place(uint32_t node) : scope_(objects(), objects().element(node, kNodes)) {}

 private:
  static constexpr uint32_t kNodes = 1 << 20;  // for fixed cells; the graph has fewer

  variant::Scope scope_;
};

}  // namespace pagerank
