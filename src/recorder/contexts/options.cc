// Parses the arguments.
#include "recorder/contexts/options.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace halo::record {

namespace {

// The program may change its directory before the parts are written.
std::string from_root(std::string_view path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return path.empty() || error ? std::string(path) : absolute.string();
}

bool parse_one(std::string_view name, std::string_view value, Options& options) {
  if (name == "out")
    options.out = from_root(value);
  else if (name == "progress")
    options.progress = value;
  else if (name == "merge" && (value == "on" || value == "off"))
    options.merge_repeats = value == "on";
  else
    return options.parameters.set(name, value);
  return true;
}

}  // namespace

bool parse_options(std::span<char*> arguments, Options& options) {
  for (const std::string_view argument : arguments) {
    const size_t equals = argument.find('=');
    const bool good = equals != std::string_view::npos &&
                      parse_one(argument.substr(0, equals), argument.substr(equals + 1), options);
    if (!good) {
      fprintf(stderr, "halo-recorder: not understood: %.*s\n", int(argument.size()),
              argument.data());
      return false;
    }
  }
  if (options.out.empty()) fprintf(stderr, "halo-recorder: out=PREFIX is missing\n");
  return !options.out.empty();
}

}  // namespace halo::record
