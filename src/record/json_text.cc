// Escapes of JSON, and a check of UTF-8.
#include "record/json_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace halo::record {

namespace {

// Of the UTF-8 character that the text begins with; 0 where it is none. Not empty.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t at) { return uint8_t(text[at]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  // Longer than need be, half of a UTF-16 pair, beyond the last.
  const bool refused = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                       (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
  return refused ? 0 : length;
}

}  // namespace

void print_json_string(FILE* file, std::string_view text) {
  fputc('"', file);
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      fputs("\\ufffd", file);
    } else if (c == '"' || c == '\\') {
      fprintf(file, "\\%c", c);
    } else if (c < 0x20) {
      fprintf(file, "\\u%04x", c);
    } else {
      fwrite(&text[at], 1, length, file);
    }
    at += std::max<size_t>(length, 1);
  }
  fputc('"', file);
}

}  // namespace halo::record
