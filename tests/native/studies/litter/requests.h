// Observes the requests of src/studies/litter to malloc and the kernel, independently of its own
// report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace halo::litter {

// The linker redirects its calls here (--wrap), so this works under sanitizers too.
//
// Records during its lifetime, one at a time; frees the remaining objects at its end.
class Requests {
 public:
  // malloc refuses memory once, after that many objects.
  explicit Requests(size_t room = SIZE_MAX);
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests();

  std::vector<size_t> sizes;  // of all objects, in order
  std::vector<size_t> freed;  // indices into `sizes`, in the order of the calls
  size_t mapped = 0;          // bytes currently mapped
  size_t max_mapped = 0;
  bool sound = true;  // only allocated objects were freed, and each once

  // The number of live objects of each size.
  std::map<size_t, size_t> live() const;
  std::map<size_t, size_t> made() const;

  void* allocate(size_t size);
  void release(void* object);
  void map(void* at, size_t size);
  void unmap(void* at, size_t size);

 private:
  size_t room_;
  size_t asked_ = 0;
  std::map<void*, size_t> alive_;
  std::map<void*, size_t> mappings_;
};

}  // namespace halo::litter
