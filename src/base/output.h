// Text for a file descriptor by way of a fixed buffer: allocates nothing and takes no lock.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cstddef>

namespace halo {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { flush(); }

  // At most 511 bytes a call; the rest is cut off.
  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) {
    if (sizeof buffer_ - used_ < 512) flush();
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(buffer_ + used_, sizeof buffer_ - used_, format, arguments);
    va_end(arguments);
    const std::size_t room = sizeof buffer_ - used_ - 1;
    if (n > 0) used_ += static_cast<std::size_t>(n) < room ? static_cast<std::size_t>(n) : room;
  }

  // A JSON string of any length, with its quotation marks.
  void quote(const char* text) {
    print("\"");
    for (; *text != '\0'; ++text) {
      const auto character = static_cast<unsigned char>(*text);
      if (character < 0x20)
        print("\\u%04x", static_cast<unsigned>(character));
      else
        print(character == '"' || character == '\\' ? "\\%c" : "%c", *text);
    }
    print("\"");
  }

  // Whether all of it was written; to be asked last.
  bool finish() {
    flush();
    return complete_;
  }

 private:
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t n = write(fd_, buffer_ + done, used_ - done);
      if (n <= 0) {
        complete_ = false;
        break;
      }
      done += static_cast<std::size_t>(n);
    }
    used_ = 0;
  }

  int fd_;
  bool complete_ = true;
  std::size_t used_ = 0;
  char buffer_[4096];
};

}  // namespace halo
