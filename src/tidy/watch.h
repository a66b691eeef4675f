// What a model learns about the tables of a heap.
#pragma once

#include <cstddef>

namespace halo::tidy {

// The core calls Watch::touch(address, bytes) for each part of its tables that it reads or writes,
// about when it does. So a model of the heap has the accesses of the heap itself. This is the watch
// of a heap that is used: it does nothing.
struct Unwatched {
  static constexpr void touch(const void* /*at*/, std::size_t /*bytes*/) {}
};

}  // namespace halo::tidy
