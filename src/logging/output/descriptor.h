// A descriptor of ours in a process that may close or replace any descriptor at any time.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace halo::logging {

// The same file description, at a number where programs do not look, closed by exec; the given
// descriptor is closed. -1 where it was none.
int move_away(int descriptor);

class Descriptor {
 public:
  // Takes it over; -1: none.
  void hold(int descriptor);
  // False, with EBADF, where the program has closed it or put something else in its place.
  bool is_ours() const;
  int number() const { return number_; }
  // Closes it, if it is ours still.
  void give_up();

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace halo::logging
