// Keeps the notes of a scene description.
#include "scene/notes.h"

#include <cstring>
#include <new>

namespace scene {

void Notes::add(uint32_t line, std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  void* memory = allocate(sizeof(Note) + length, "a note");
  last_ = new (memory) Note{last_, line, length};
  std::memcpy(last_ + 1, text.data(), length);
  ++count_;
}

}  // namespace scene
