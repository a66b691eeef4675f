// The allocation functions, and their arguments for size, count and address.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/Error.h>

namespace halo::pass {

// Positions of arguments, from 0.
struct Allocator {
  int size;     // bytes per element
  int count;    // number of elements; -1: no such argument, one element
  int address;  // address of the result; -1: the return value
};

class Allocators {
 public:
  // The functions of the C and the C++ library.
  Allocators();
  // Adds those of a file, see docs/tracing.md.
  llvm::Error read(llvm::StringRef path);
  const Allocator* find(llvm::StringRef function) const;

 private:
  llvm::StringMap<Allocator> known_;
};

}  // namespace halo::pass
