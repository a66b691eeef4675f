// How the variant of the tree allocates its nodes: near others with similar payloads.
#pragma once

#include <cstdint>
#include <utility>

#include "common/tidy.h"

namespace rbtree {

inline variant::Objects& objects() {
  static variant::Objects all(1);
  return all;
}

template <typename Node>
Node* make(float payload, Node&& content) {
  constexpr float kStep = 1.0f / 64;
  constexpr uint32_t kPayloads = 1 << 24;
  const auto value = static_cast<uint32_t>(payload / kStep);
  const variant::Scope scope(objects(), objects().element(value, kPayloads));
  return halo::tidy::make_in_scope<Node>(std::forward<Node>(content)).release();
}

template <typename Node>
void unmake(Node* node) {
  halo::tidy::destroy(node);
}

}  // namespace rbtree
