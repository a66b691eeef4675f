// Strong ids: integer types that do not convert to one another.
#pragma once

#include <cstdint>

namespace halo::base {

enum class ThreadId : uint32_t {};   // dense; reused after a thread has ended
enum class ObjectId : uint32_t {};   // 0: no object
enum class ContextId : uint32_t {};  // dense, in order of first allocation
enum class NodeId : uint32_t {};     // a reduced call stack; 0: the empty one

template <class Id>
constexpr uint32_t index(Id id) {
  return static_cast<uint32_t>(id);
}

}  // namespace halo::base
