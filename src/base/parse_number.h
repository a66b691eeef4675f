// Numbers in text.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace halo {

// False, if not all of the text is a decimal number that fits.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

}  // namespace halo
