// A descriptor of the library in a process that may close or replace any descriptor at any time.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace halo::logging {

// Moves the file description to a high number that programs do not use, close-on-exec, and closes
// `descriptor`. Returns -1 if that was no descriptor.
int move_to_high_number(int descriptor);

class Descriptor {
 public:
  // Takes ownership; -1: none.
  void hold(int descriptor);
  // Returns false, with EBADF, if the program has closed it or opened another file at its number.
  bool is_ours() const;
  int number() const { return number_; }
  // Closes it if it still refers to the library's file.
  void close();

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace halo::logging
