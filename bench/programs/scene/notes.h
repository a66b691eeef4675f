// Records kept for tools and error messages, and hardly ever read: where an object came from, and
// the comments of the description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scene/memory.h"

namespace scene {

struct Note {
  Note* previous;
  uint32_t line;
  uint32_t length;
  // The text follows: a note is one block of memory.
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), length}; }
};

class Notes {
 public:
  Notes() = default;
  ~Notes();
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  void add(uint32_t line, std::string_view text);
  const Note* last() const { return last_; }
  size_t count() const { return count_; }

 private:
  Note* last_ = nullptr;
  size_t count_ = 0;
};

}  // namespace scene
