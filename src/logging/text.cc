// Numbers and JSON strings as text.
#include "logging/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace halo::logging {

namespace {

// Bytes of the UTF-8 character that the text begins with; 0: it is none.
size_t character_bytes(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const size_t bytes = byte < 0x80 ? 1 : byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  if (byte > 0xF4 || bytes == 0 || bytes > text.size()) return 0;
  const auto next = bytes > 1 ? static_cast<unsigned char>(text[1]) : 0;
  if ((byte == 0xE0 && next < 0xA0) || (byte == 0xED && next > 0x9F)) return 0;
  if ((byte == 0xF0 && next < 0x90) || (byte == 0xF4 && next > 0x8F)) return 0;
  for (size_t at = 1; at < bytes; ++at) {
    if ((text[at] & 0xC0) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace

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
  add("\"");
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t bytes = character_bytes(text);
    if (bytes == 0 || byte < 0x20) {
      const char escape[] = {
          '\\', 'u', '0', '0', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      add({escape, sizeof escape});
    } else {
      if (byte == '"' || byte == '\\') add("\\");
      add(text.substr(0, bytes));
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  add("\"");
}

}  // namespace halo::logging
