// Mapping of metadata in pieces.
#include "tidy/metadata.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/keep_errno.h"
#include "tidy/page.h"

namespace halo::tidy {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPiece = size_t{1} << 20;  // bytes, without larger requests

constexpr size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

void* Metadata::take(size_t bytes) {
  const size_t rounded = round_up(bytes, kLine);
  if (rounded < bytes) return nullptr;
  if (static_cast<size_t>(end_ - next_) < rounded) {
    const KeepErrno keep;
    const size_t wanted = std::max(kPiece, round_up(rounded + kLine, kSystemPage));
    void* const piece = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (piece == MAP_FAILED) return nullptr;
    pieces_ = new (piece) Piece{pieces_, wanted};
    mapped_ += wanted;
    next_ = static_cast<char*>(piece) + kLine;
    end_ = static_cast<char*>(piece) + wanted;
  }
  char* const at = next_;
  next_ += rounded;
  return at;
}

void Metadata::release() {
  while (pieces_ != nullptr) {
    Piece* const piece = pieces_;
    pieces_ = piece->next;
    munmap(piece, piece->bytes);
  }
  next_ = end_ = nullptr;
  mapped_ = 0;
}

}  // namespace halo::tidy
