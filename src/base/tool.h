// What the programs have in common that halo's commands start to read a file.
//
// Their arguments are flags, options as --NAME=VALUE, and a path. Exit status: 0 success, 1 no
// memory or cannot write, 2 wrong usage, 3 the file is unusable. Status 3 comes with one sentence
// on stderr that lacks the file's name.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "base/parse_number.h"

namespace halo {

enum class ToolStatus { kDone = 0, kCannotWork = 1, kUsage = 2, kUnusable = 3 };

struct ToolOption {
  std::string_view name;                         // ends with '=' if it has a value
  std::function<bool(std::string_view)> accept;  // the value, or nothing; false: wrong usage
};

inline ToolOption flag_option(std::string_view name, bool& field) {
  return {name, [&field](std::string_view) { return field = true; }};
}
inline ToolOption text_option(std::string_view name, std::string& field) {
  return {name, [&field](std::string_view value) {
            field = value;
            return true;
          }};
}
// A number over 0.
inline ToolOption count_option(std::string_view name, unsigned& field) {
  return {name,
          [&field](std::string_view value) { return parse_number(value, field) && field > 0; }};
}

// Returns false if the usage is wrong.
inline bool parse_tool(int argc, char** argv, std::initializer_list<ToolOption> options,
                       std::string& path) {
  const auto accept = [&](std::string_view word) {
    for (const ToolOption& option : options) {
      const bool has_value = option.name.ends_with('=');
      if (has_value ? word.starts_with(option.name) : word == option.name)
        return option.accept(word.substr(option.name.size()));
    }
    if (word.starts_with("--") || !path.empty()) return false;
    path = word;
    return true;
  };
  for (int at = 1; at < argc; ++at)
    if (!accept(argv[at])) return false;
  return !path.empty();
}

// The exit status of run(), and a sentence for what it throws. `tool` is the program's name.
template <class Run>
int run_tool(const char* tool, const Run& run) {
  ToolStatus status = ToolStatus::kCannotWork;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    fprintf(stderr, "%s: there is not enough memory for this file\n", tool);
  } catch (const std::system_error& error) {
    fprintf(stderr, "%s: %s\n", tool, error.what());
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    status = ToolStatus::kUnusable;
  }
  return int(status);
}

}  // namespace halo
