// Writes text to a file descriptor through a fixed buffer, without allocations or locks.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "base/json/text.h"

namespace halo {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { flush(); }

  // At most 511 bytes per call; the rest is cut off.
  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) {
    if (sizeof buffer_ - used_ < 512) flush();
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(buffer_ + used_, sizeof buffer_ - used_, format, arguments);
    va_end(arguments);
    const size_t room = sizeof buffer_ - used_ - 1;
    if (n > 0) used_ += static_cast<size_t>(n) < room ? static_cast<size_t>(n) : room;
  }

  // A JSON string of any length, with its quotation marks.
  void quote(const char* text) {
    put_json_string(text, NotUtf8::kReplaced, [this](std::string_view piece) {
      print("%.*s", static_cast<int>(piece.size()), piece.data());
    });
  }

  // Whether all output was written; call it last.
  bool finish() {
    flush();
    return complete_;
  }

 private:
  void flush() {
    for (size_t done = 0; done < used_;) {
      const ssize_t n = write(fd_, buffer_ + done, used_ - done);
      if (n <= 0) {
        complete_ = false;
        break;
      }
      done += static_cast<size_t>(n);
    }
    used_ = 0;
  }

  int fd_;
  bool complete_ = true;
  size_t used_ = 0;
  char buffer_[4096];
};

}  // namespace halo
