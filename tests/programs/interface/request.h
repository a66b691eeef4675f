// A request for a block, the kinds of blocks by the functions that may free them, and checks of
// their contents.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Makers of text set the size to that of their text.
struct Request {
  size_t size;
  size_t alignment;
};

// The functions that may free a block.
enum Kind : unsigned {
  sized = 1,    // malloc, calloc, realloc: free and free_sized
  aligned = 2,  // aligned_alloc: free and free_aligned_sized
  plain = 4,    // all other functions of C, including the C library's own allocations: free only
  object = 8,   // the three forms of delete, and so on
  array = 16,
  wide_object = 32,
  wide_array = 64,
};

constexpr size_t page = 4096;

// Only both ends of large blocks are checked.
constexpr size_t whole = 32768, edge = 64;

[[noreturn]] inline void broken(const char* who, const char* what, size_t size) {
  std::fprintf(stderr, "%s, %zu bytes: %s\n", who, size, what);
  std::abort();
}

inline unsigned char byte_at(unsigned seed, size_t at) {
  return static_cast<unsigned char>(seed * 31 + at * 7 + 1);
}

// Volatile: one byte at a time, so that no vector instruction requires alignment.
inline void fill(void* block, size_t size, unsigned seed) {
  auto* bytes = static_cast<volatile unsigned char*>(block);
  for (size_t at = 0; at < size; ++at) {
    if (at == edge && size > whole) at = size - edge;
    bytes[at] = byte_at(seed, at);
  }
}

inline bool holds(const void* block, size_t size, unsigned seed) {
  auto* bytes = static_cast<const volatile unsigned char*>(block);
  for (size_t at = 0; at < size; ++at) {
    if (at == edge && size > whole) at = size - edge;
    if (bytes[at] != byte_at(seed, at)) return false;
  }
  return true;
}

inline bool is_zero(const void* block, size_t size) {
  auto* bytes = static_cast<const volatile unsigned char*>(block);
  for (size_t at = 0; at < size; ++at)
    if (bytes[at] != 0) return false;
  return true;
}
