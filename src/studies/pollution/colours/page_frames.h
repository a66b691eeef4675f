// The frames of pages, as the kernel reports them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::colours {

inline constexpr size_t kPageBytes = 4096;

// Memory of single pages of the system, all of them resident.
class ResidentPages {
 public:
  // Throws std::bad_alloc.
  explicit ResidentPages(size_t count);
  ~ResidentPages() { munmap(memory_, count_ * kPageBytes); }
  ResidentPages(const ResidentPages&) = delete;
  ResidentPages& operator=(const ResidentPages&) = delete;

  size_t count() const { return count_; }
  char* operator[](size_t page) const { return static_cast<char*>(memory_) + page * kPageBytes; }

  // The number of each page's frame; 0 if the kernel hides it, which it does without CAP_SYS_ADMIN.
  std::vector<uint64_t> frames() const;

 private:
  size_t count_;
  void* memory_;
};

}  // namespace halo::colours
