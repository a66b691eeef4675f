// Memory for the tables of a heap: mapped from the kernel, zeroed, released as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidy/tracer.h"

namespace halo::tidy {

// One thread at a time.
class Metadata {
 public:
  Metadata() = default;
  Metadata(const Metadata&) = delete;
  Metadata& operator=(const Metadata&) = delete;
  ~Metadata() { release(); }

  // Zeroed memory that starts at a cache line; nullptr if memory is refused.
  void* take(size_t bytes);

  // Unmaps all of it.
  void release();

  // Bytes that were mapped; only touched pages of them take memory.
  uint64_t mapped() const { return mapped_; }

 private:
  struct Piece {
    Piece* next;
    size_t bytes;
  };

  Piece* pieces_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
  uint64_t mapped_ = 0;
};

// A table that grows without moving its elements. T must be valid when all its bytes are zero.
template <class T, uint32_t kMax, class Tracer = Untraced>
class Table {
 public:
  explicit Table(Metadata& metadata) : metadata_(&metadata) {}

  // Makes the elements below `count` usable; false if memory is refused or `count` is over kMax.
  bool reserve(uint32_t count) {
    if (count > kMax) return false;
    if (chunks_ == nullptr) {
      chunks_ = static_cast<T**>(metadata_->take(sizeof(void*) * (kMax / kChunk + 1)));
      if (chunks_ == nullptr) return false;
    }
    for (; size_ < count; size_ += kChunk) {
      void* const chunk = metadata_->take(sizeof(T) * kChunk);
      if (chunk == nullptr) return false;
      chunks_[size_ / kChunk] = static_cast<T*>(chunk);
    }
    return true;
  }

  T& operator[](uint32_t at) { return element(at); }
  const T& operator[](uint32_t at) const { return element(at); }

 private:
  static constexpr uint32_t kChunk = 1024;

  T& element(uint32_t at) const {
    T*& chunk = chunks_[at / kChunk];
    Tracer::touch(&chunk, sizeof(void*));
    Tracer::touch(&chunk[at % kChunk], sizeof(T));
    return chunk[at % kChunk];
  }

  Metadata* metadata_;
  T** chunks_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace halo::tidy
