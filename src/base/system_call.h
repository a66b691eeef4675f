// System calls without the C library, which may be replaced, and sets errno.
#pragma once

#include <cerrno>
#include <cstdint>

namespace halo {

// The kernel's result: errors are negative.
inline int64_t system_call(int64_t number, uint64_t a1 = 0, uint64_t a2 = 0, uint64_t a3 = 0,
                           uint64_t a4 = 0, uint64_t a5 = 0, uint64_t a6 = 0) {
  register uint64_t r10 asm("r10") = a4;
  register uint64_t r8 asm("r8") = a5;
  register uint64_t r9 asm("r9") = a6;
  int64_t result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// That result as the C library returns it.
inline int64_t with_errno(int64_t result) {
  if (result >= 0) return result;
  errno = int(-result);
  return -1;
}

template <class T>
uint64_t address_of(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace halo
