// Sees what src/litter asks of malloc and of the kernel, independently of its own report. The
// linker leads its calls here (--wrap), so that this works under sanitizers too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace halo::litter {

// Records from its construction to its end, one at a time; the objects that are left it frees.
class Requests {
 public:
  // malloc refuses memory once, after so many objects.
  explicit Requests(std::size_t room = SIZE_MAX);
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests();

  std::vector<std::size_t> sizes;  // of all objects, in their order
  std::vector<std::size_t> freed;  // their places in `sizes`, in the order of the calls
  std::size_t mapped = 0;          // bytes, now
  std::size_t most_mapped = 0;
  bool sound = true;  // only what was given was given back, and once

  // How many objects of each size are alive.
  std::map<std::size_t, std::size_t> live() const;
  std::map<std::size_t, std::size_t> made() const;

  void* allocate(std::size_t size);
  void release(void* object);
  void map(void* at, std::size_t size);
  void unmap(void* at, std::size_t size);

 private:
  std::size_t room_;
  std::size_t asked_ = 0;
  std::map<void*, std::size_t> alive_;
  std::map<void*, std::size_t> mappings_;
};

}  // namespace halo::litter
