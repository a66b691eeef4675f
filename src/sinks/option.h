// Options of sinks: NAME=VALUE in the arguments of every recorder.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace halo::sinks {

// A number from 0 up to a maximum.
template <class Options, class Number>
struct NumberOption {
  std::string_view name;
  Number Options::* field;
  Number maximum;

  // Returns false if the text is no such number.
  bool set(std::string_view text, Options& options) const {
    const char* const end = text.data() + text.size();
    Number& value = options.*field;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && value <= maximum;
  }
};
template <class Options, class Number, class Maximum>
NumberOption(std::string_view, Number Options::*, Maximum) -> NumberOption<Options, Number>;

}  // namespace halo::sinks
