// The wrapped calls.
#include "studies/litter/requests.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace {

halo::litter::Requests* watching = nullptr;

}  // namespace

extern "C" {

void* __real_malloc(size_t size);
void __real_free(void* object);
void* __real_mmap(void* at, size_t size, int rights, int flags, int fd, off_t offset);
int __real_munmap(void* at, size_t size);

void* __wrap_malloc(size_t size) {
  return watching != nullptr ? watching->allocate(size) : __real_malloc(size);
}

void __wrap_free(void* object) {
  if (watching != nullptr)
    watching->release(object);
  else
    __real_free(object);
}

void* __wrap_mmap(void* at, size_t size, int rights, int flags, int fd, off_t offset) {
  void* found = __real_mmap(at, size, rights, flags, fd, offset);
  if (watching != nullptr && found != MAP_FAILED) watching->map(found, size);
  return found;
}

int __wrap_munmap(void* at, size_t size) {
  if (watching != nullptr) watching->unmap(at, size);
  return __real_munmap(at, size);
}

}  // extern "C"

namespace halo::litter {

Requests::Requests(size_t room) : room_(room) { watching = this; }

Requests::~Requests() {
  watching = nullptr;
  for (const auto& [object, place] : alive_) __real_free(object);
}

void* Requests::allocate(size_t size) {
  void* object = asked_++ == room_ ? nullptr : __real_malloc(size);
  if (object == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  alive_[object] = sizes.size();
  sizes.push_back(size);
  return object;
}

void Requests::release(void* object) {
  const auto found = alive_.find(object);
  if (found == alive_.end()) {
    sound = false;
    return;
  }
  freed.push_back(found->second);
  alive_.erase(found);
  __real_free(object);
  errno = EAGAIN;  // as allocators may
}

void Requests::map(void* at, size_t size) {
  mappings_[at] = size;
  mapped += size;
  max_mapped = std::max(max_mapped, mapped);
}

void Requests::unmap(void* at, size_t size) {
  const auto found = mappings_.find(at);
  if (found == mappings_.end() || found->second != size) {
    sound = false;
    return;
  }
  mappings_.erase(found);
  mapped -= size;
}

std::map<size_t, size_t> Requests::live() const {
  std::map<size_t, size_t> result;
  for (const auto& [object, place] : alive_) ++result[sizes[place]];
  return result;
}

std::map<size_t, size_t> Requests::made() const {
  std::map<size_t, size_t> result;
  for (const size_t size : sizes) ++result[size];
  return result;
}

}  // namespace halo::litter
