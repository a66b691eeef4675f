// Zeroed memory directly from the kernel.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace halo::trace {

// Runs no object's destructor and never calls malloc: for use inside other programs.
class MappedMemory {
 public:
  MappedMemory() = default;
  explicit MappedMemory(size_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    at_ = at == MAP_FAILED ? nullptr : at;
  }
  ~MappedMemory() {
    if (at_ != nullptr) munmap(at_, bytes_);
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  MappedMemory(MappedMemory&& other) noexcept { swap(other); }
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  // Keeps the contents. Returns false, without any change, if memory is refused.
  bool grow(size_t bytes) {
    if (bytes <= bytes_) return true;
    if (at_ == nullptr) {
      *this = MappedMemory(bytes);
      return at_ != nullptr;
    }
    void* at = mremap(at_, bytes_, bytes, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) return false;
    at_ = at;
    bytes_ = bytes;
    return true;
  }

  // Requests huge pages, for tables with random accesses.
  void prefer_large_pages() const {
    if (at_ != nullptr) madvise(at_, bytes_, MADV_HUGEPAGE);
  }

  bool ok() const { return at_ != nullptr; }
  size_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(at_);
  }

 private:
  void swap(MappedMemory& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
  }

  void* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace halo::trace
