// Strings of JSON documents; any bytes may come in, what goes out is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace halo {

// Bytes of the UTF-8 character that the text begins with; 0: it is none. The text is not empty.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t at = 1; at < length; ++at)
    if ((byte(at) & 0xC0) != 0x80) return 0;
  // Overlong, half of a UTF-16 pair, beyond the last.
  const bool refused = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                       (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return refused ? 0 : length;
}

// What becomes of bytes that are not UTF-8: the character of Latin-1, or U+FFFD.
enum class NotUtf8 { kLatin1, kReplaced };

// Passes the string to `put`, with its quotation marks, in pieces.
template <class Put>
void put_json_string(std::string_view text, NotUtf8 treatment, Put&& put) {
  put(std::string_view("\""));
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t length = utf8_length(text);
    if (length == 0 && treatment == NotUtf8::kReplaced) {
      put(std::string_view("\\ufffd"));
    } else if (length == 0 || byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      const char escape[] = {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
      put(std::string_view(escape, sizeof escape));
    } else {
      if (byte == '"' || byte == '\\') put(std::string_view("\\"));
      put(std::string_view(text.data(), length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  put(std::string_view("\""));
}

}  // namespace halo
