// A large array of zeroes; only touched pages take memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <stdexcept>

namespace halo::base {

// T must be valid when all its bytes are zero.
template <class T>
class MappedArray {
 public:
  // Maps `wanted` elements, or fewer if address space is limited; throws if not even `minimum` can
  // be mapped.
  explicit MappedArray(size_t wanted, size_t minimum = 1) {
    for (size_ = wanted; size_ >= minimum; size_ /= 2) {
      void* at = mmap(nullptr, size_ * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) continue;
      data_ = static_cast<T*>(at);
      return;
    }
    throw std::runtime_error("too little address space (is it limited by ulimit -v?)");
  }
  ~MappedArray() { munmap(data_, size_ * sizeof(T)); }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;

  size_t size() const { return size_; }
  const T* data() const { return data_; }
  T& operator[](size_t at) { return data_[at]; }
  const T& operator[](size_t at) const { return data_[at]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace halo::base
