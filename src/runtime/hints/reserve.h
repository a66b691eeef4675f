// The block that makes sure that an allocation cannot fail once it reads values.
#pragma once

#include <cstdint>
#include <utility>

#include "base/single_threaded.h"
#include "runtime/hints/freeing.h"
#include "tidy/context.h"
#include "tidy/spare.h"

namespace halo::runtime {

// Whether a rule's spare block serves for a block of `bytes`: Tidy aligns blocks by their size, up
// to 16 bytes, and an older one may be from before code was loaded that needs 16.
inline bool is_spare(const void* block, std::uint32_t bytes) {
  const std::uintptr_t odd = bytes % 16 == 0 ? 15 : 7;
  return block != nullptr && (reinterpret_cast<std::uintptr_t>(block) & odd) == 0;
}

// A rule's spare block (tidy/spare.h), or a new one. It is taken and put back at the end. A process
// with one thread leaves it where it is: then it is gone before it is needed only if a signal
// handler has interrupted the call, and was refused memory.
class Reserve {
 public:
  Reserve(void*& spare, tidy::Context& context, std::uint32_t bytes) : spare_(&spare) {
    stays_ = is_single_threaded() && is_spare(__atomic_load_n(spare_, __ATOMIC_RELAXED), bytes);
    if (!stays_) block_ = get(context, bytes);
  }
  ~Reserve() {
    if (block_ == nullptr) return;
    if (void* const other = tidy::exchange_spare(spare_, block_)) free_hinted(other);
  }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  // Whether there is one.
  explicit operator bool() const { return stays_ || block_ != nullptr; }
  // It becomes the object; nullptr if it is gone.
  void* take() {
    return stays_ ? tidy::exchange_spare(spare_, nullptr) : std::exchange(block_, nullptr);
  }

 private:
  [[gnu::noinline]] void* get(tidy::Context& context, std::uint32_t bytes) {
    void* const found = tidy::exchange_spare(spare_, nullptr);
    if (is_spare(found, bytes)) return found;
    if (found != nullptr) free_hinted(found);
    return context.allocate(nullptr, bytes);
  }

  void** spare_;
  void* block_ = nullptr;
  bool stays_;
};

}  // namespace halo::runtime
