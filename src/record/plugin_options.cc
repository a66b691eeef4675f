// Parsing of the plugin's arguments.
#include "record/plugin_options.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "simulator/hierarchy.h"

namespace halo::record {

namespace {

template <class Number>
bool parse_number(std::string_view text, Number most, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value <= most;
}

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
  else if (name == "distance")
    return parse_number(value, 1u << 20, options.parameters.affinity_distance);
  else if (name == "max_object")
    return parse_number(value, sinks::Object::kMaxSize, options.parameters.max_object_size);
  else if (name == "streams")
    return parse_number(value, 1ul << 31, options.parameters.stream_references);
  else if (name == "machine")
    return read_machine(value, options.parameters.machine);
  else if (name == "merge" && (value == "on" || value == "off"))
    options.merge_repeats = value == "on";
  else
    return false;
  return true;
}

}  // namespace

bool read_machine(std::string_view value, std::optional<simulator::Machine>& machine) {
  if (value == "this") {
    machine = simulator::this_machine();
    return true;
  }
  std::ifstream file{std::string(value)};
  if (!file) return false;
  try {
    machine = simulator::parse_machine(file);
    const simulator::Hierarchy possible(*machine);
    return true;
  } catch (const std::invalid_argument& error) {
    fprintf(stderr, "halo-recorder: %s\n", error.what());
    return false;
  }
}

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
