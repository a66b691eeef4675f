// Pages of a program, with a content that tests can check.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "studies/pollution/traps/traps.h"

namespace halo::traps {

class Pages {
 public:
  explicit Pages(size_t count) : bytes_(count * kPageBytes) {
    at_ = static_cast<unsigned char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(at_, bytes_, MADV_NOHUGEPAGE);
    for (size_t page = 0; page < count; ++page)
      std::memset(at_ + page * kPageBytes, value(page), kPageBytes);
  }
  ~Pages() { munmap(at_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  static unsigned char value(size_t page) { return static_cast<unsigned char>(1 + page % 251); }
  unsigned char* operator[](size_t page) const { return at_ + page * kPageBytes; }
  uintptr_t address(size_t page) const { return reinterpret_cast<uintptr_t>((*this)[page]); }
  size_t count() const { return bytes_ / kPageBytes; }
  // Whether all pages have their content.
  bool are_intact() const {
    for (size_t page = 0; page < count(); ++page)
      if (std::any_of((*this)[page], (*this)[page + 1],
                      [&](unsigned char byte) { return byte != value(page); }))
        return false;
    return true;
  }

 private:
  size_t bytes_;
  unsigned char* at_;
};

}  // namespace halo::traps
