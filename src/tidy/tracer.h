// How a model sees the accesses of a heap to its tables.
#pragma once

#include <cstddef>

namespace halo::tidy {

// The core calls Tracer::touch(address, bytes) for each part of its tables that it reads or writes,
// about when it does. So a model of the heap has the accesses of the heap itself. This one is
// of a heap in a program: it does nothing.
struct Untraced {
  static constexpr void touch(const void* /*at*/, size_t /*bytes*/) {}
};

}  // namespace halo::tidy
