// Numbers and JSON strings as text.
#include "tracing/library/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/json/text.h"

namespace halo::logging {

bool Text::has_room(size_t bytes) {
  if (used_ + bytes <= memory_.bytes()) return true;
  return memory_.grow(std::max<size_t>(2 * (used_ + bytes), 1 << 16));
}

void Text::add(std::string_view text) {
  if (text.empty() || !has_room(text.size())) return;
  memcpy(memory_.as<char>() + used_, text.data(), text.size());
  used_ += text.size();
}

void Text::add_number(uint64_t number) {
  char digits[24];
  add({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
}

void Text::add_hex(uint64_t number) {
  char digits[24] = "0x";
  add({digits, std::to_chars(digits + 2, digits + sizeof digits, number, 16).ptr});
}

void Text::quote(std::string_view text) {
  put_json_string(text, NotUtf8::kLatin1, [this](std::string_view piece) { add(piece); });
}

}  // namespace halo::logging
