// Arrays mapped directly from the kernel, so that they do not change the heap under test.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace halo::litter {

// `size` elements, zeroed, which must be a valid state. Empty if memory was refused.
template <class Element>
class Pages {
 public:
  Pages() = default;
  explicit Pages(size_t size, int sharing = MAP_PRIVATE) { map(size, sharing); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { unmap(); }

  // Returns false if memory was refused.
  bool map(size_t size, int sharing = MAP_PRIVATE) {
    unmap();
    if (size == 0) return true;
    void* at = mmap(nullptr, size * sizeof(Element), PROT_READ | PROT_WRITE,
                    sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    first_ = static_cast<Element*>(at);
    size_ = size;
    return true;
  }

  void unmap() {
    if (first_ != nullptr) munmap(first_, bytes());
    first_ = nullptr;
    size_ = 0;
  }

  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(Element); }
  Element* begin() const { return first_; }
  Element* end() const { return first_ + size_; }
  Element& operator[](size_t i) const { return first_[i]; }

 private:
  Element* first_ = nullptr;
  size_t size_ = 0;
};

}  // namespace halo::litter
