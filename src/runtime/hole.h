// Freed blocks side by side, waiting to be filled again: lies in the memory that it describes,
// which the program may still write to by mistake.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/free_block.h"

namespace halo::runtime {

class Hole {
 public:
  // At the start of the memory up to `end`.
  static Hole* make(char* begin, char* end, const Hole* next) {
    auto* hole = reinterpret_cast<Hole*>(begin);
    hole->end_ = end;
    hole->returned_ = 0;
    hole->set_next(next);
    return hole;
  }

  // Whether nobody has written here. Otherwise nothing of it is to be used.
  bool is_intact() const { return seal_ == seal(); }

  // At a higher address.
  Hole* next() const { return reinterpret_cast<Hole*>(link_.next()); }
  void set_next(const Hole* next) {
    link_.set_next(reinterpret_cast<const Block*>(next));
    seal_ = seal();
  }

  char* begin() { return reinterpret_cast<char*>(this); }
  char* end() const { return end_; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(end_ - reinterpret_cast<const char*>(this));
  }

  // Bytes of pages inside that were given back to the system.
  std::size_t returned() const { return returned_; }
  void set_returned(std::size_t bytes) {
    returned_ = bytes;
    seal_ = seal();
  }

 private:
  std::uint64_t seal() const {
    const std::uint64_t end = reinterpret_cast<std::uintptr_t>(end_) ^ link_secret.mask;
    return ((link_.word() + returned_) * link_secret.inverse ^ end) * link_secret.factor;
  }

  Block link_;  // the block that began here remains one that is free
  char* end_;
  std::size_t returned_;
  std::uint64_t seal_;
};

// The chunk's first hole, if nobody has written there; else that and those behind it are given up.
inline Hole* first_hole(Chunk& chunk) {
  if (chunk.holes == nullptr || chunk.holes->is_intact()) [[likely]]
    return chunk.holes;
  report_overwritten(chunk.holes);
  return chunk.holes = nullptr;
}

// The same of the hole behind an intact one.
inline Hole* next_hole(Hole& hole) {
  Hole* next = hole.next();
  if (next == nullptr || next->is_intact()) [[likely]]
    return next;
  report_overwritten(next);
  hole.set_next(nullptr);
  return nullptr;
}

}  // namespace halo::runtime
