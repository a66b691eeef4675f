// Options of sinks: NAME=VALUE in the arguments of every recorder.
#pragma once

#include <string_view>

#include "base/parse_number.h"

namespace halo::sinks {

// A number from 0 up to a maximum.
template <class Options, class Number>
struct NumberOption {
  std::string_view name;
  Number Options::* field;
  Number maximum;

  // Returns false if the text is no such number.
  bool set(std::string_view text, Options& options) const {
    return parse_number(text, options.*field) && options.*field <= maximum;
  }
};
template <class Options, class Number, class Maximum>
NumberOption(std::string_view, Number Options::*, Maximum) -> NumberOption<Options, Number>;

}  // namespace halo::sinks
