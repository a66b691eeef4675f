// Which functions allocate, and where they are told of how much.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/Error.h>

namespace halo::pass {

// Positions of arguments, from 0.
struct Allocator {
  int size;     // bytes of an element
  int count;    // elements; -1: there is no such argument, it is one
  int address;  // where the address is stored; -1: it is the result
};

class Allocators {
 public:
  // Those of the C and the C++ library.
  Allocators();
  // Adds those of a file, see docs/tracing.md.
  llvm::Error read(llvm::StringRef path);
  const Allocator* find(llvm::StringRef function) const;

 private:
  llvm::StringMap<Allocator> known_;
};

}  // namespace halo::pass
