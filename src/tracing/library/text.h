// Text composed in mapped memory, outside the program's heap.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing/format/mapped_memory.h"

namespace halo::logging {

class Text {
 public:
  Text() = default;

  void add(std::string_view text);
  void add_number(uint64_t number);
  void add_hex(uint64_t number);
  // As a JSON string; invalid UTF-8 is read as Latin-1.
  void quote(std::string_view text);

  void clear() { used_ = 0; }
  std::string_view view() const { return {memory_.as<char>(), used_}; }

 private:
  bool has_room(size_t bytes);

  trace::MappedMemory memory_;
  size_t used_ = 0;
};

}  // namespace halo::logging
