// Writes a JSON document to a file, with commas where they belong.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdio>
#include <string_view>

#include "base/json/text.h"

namespace halo {

class JsonWriter {
 public:
  explicit JsonWriter(FILE* file) : file_(file) {}

  template <std::integral Number>
  void value(Number number) {
    if constexpr (std::same_as<Number, bool>) {
      print(number ? "true" : "false");
    } else {
      char digits[24];
      print({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
    }
  }
  // A path may be any bytes, JSON may not.
  void value(std::string_view text) {
    print("");
    put_json_string(text, NotUtf8::kReplaced, [this](std::string_view piece) {
      fwrite(piece.data(), 1, piece.size(), file_);
    });
  }
  void value(double number, int digits) {
    print("");
    fprintf(file_, "%.*f", digits, number);
  }
  // The text of a value, which is JSON already.
  void raw(std::string_view json) { print(json); }
  // `body()` writes the members.
  template <std::invocable Body>
  void value(Body&& body) {
    enclosed('{', body, '}');
  }

  void key(std::string_view name) {
    value(name);
    fputc(':', file_);
    comma_ = false;
  }
  template <class... Values>
  void field(std::string_view name, Values&&... values) {
    key(name);
    value(values...);
  }
  // Keys and values, alternating.
  template <class Value, class... Rest>
  void fields(std::string_view name, const Value& first, const Rest&... rest) {
    field(name, first);
    if constexpr (sizeof...(rest) != 0) fields(rest...);
  }
  template <class Body>
  void list(Body&& body) {
    enclosed('[', body, ']');
  }
  // The next key or value begins a line.
  void new_line() { line_ = true; }
  // Calls `write_one(item)` for each item; one item per line.
  template <class Items, class WriteOne>
  void list(std::string_view name, const Items& items, WriteOne&& write_one) {
    key(name);
    list([&] {
      for (const auto& item : items) {
        new_line();
        write_one(item);
      }
    });
  }
  template <class... Values>
  void row(const Values&... values) {
    list([&] { (value(values), ...); });
  }

 private:
  void print(std::string_view text) {
    if (comma_) fputc(',', file_);
    if (line_) fputc('\n', file_);
    comma_ = true;
    line_ = false;
    fwrite(text.data(), 1, text.size(), file_);
  }
  template <class Body>
  void enclosed(char open, Body&& body, char close) {
    print({&open, 1});
    comma_ = false;
    body();
    fputc(close, file_);
    comma_ = true;
  }

  FILE* const file_;
  bool comma_ = false;  // before the next value
  bool line_ = false;   // the next value begins a line
};

}  // namespace halo
