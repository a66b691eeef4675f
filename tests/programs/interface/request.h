// What a block is asked for, how blocks are told apart by the ways they may be freed, and how their
// contents are checked.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Makers of text set the size to that of the text they made.
struct Request {
  std::size_t size;
  std::size_t alignment;
};

// By what a block may be freed.
enum Kind : unsigned {
  sized = 1,    // malloc, calloc, realloc: free and free_sized
  aligned = 2,  // aligned_alloc: free and free_aligned_sized
  plain = 4,    // everything else of C, libc's own allocations among it: free alone
  object = 8,   // the three forms of delete, and so on
  array = 16,
  wide_object = 32,
  wide_array = 64,
};

constexpr std::size_t page = 4096;

// Of large blocks only both ends are looked at.
constexpr std::size_t whole = 32768, edge = 64;

[[noreturn]] inline void broken(const char* who, const char* what, std::size_t size) {
  std::fprintf(stderr, "%s, %zu bytes: %s\n", who, size, what);
  std::abort();
}

inline unsigned char byte_at(unsigned seed, std::size_t at) {
  return static_cast<unsigned char>(seed * 31 + at * 7 + 1);
}

// Volatile: one byte at a time, so that no vector instruction asks for alignment.
inline void fill(void* block, std::size_t size, unsigned seed) {
  auto* bytes = static_cast<volatile unsigned char*>(block);
  for (std::size_t at = 0; at < size; ++at) {
    if (at == edge && size > whole) at = size - edge;
    bytes[at] = byte_at(seed, at);
  }
}

inline bool holds(const void* block, std::size_t size, unsigned seed) {
  auto* bytes = static_cast<const volatile unsigned char*>(block);
  for (std::size_t at = 0; at < size; ++at) {
    if (at == edge && size > whole) at = size - edge;
    if (bytes[at] != byte_at(seed, at)) return false;
  }
  return true;
}

inline bool is_zero(const void* block, std::size_t size) {
  auto* bytes = static_cast<const volatile unsigned char*>(block);
  for (std::size_t at = 0; at < size; ++at)
    if (bytes[at] != 0) return false;
  return true;
}
