// A FILE that writes to memory.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace halo::trace_tool {

class MemoryText {
 public:
  MemoryText() : file_(open_memstream(&text_, &size_)) {}
  ~MemoryText() {
    fclose(file_);
    free(text_);
  }
  MemoryText(const MemoryText&) = delete;
  MemoryText& operator=(const MemoryText&) = delete;

  FILE* file() { return file_; }
  std::string text() {
    fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  FILE* file_;
};

}  // namespace halo::trace_tool
