#include "studies/pollution/page_frames/board.h"

#include <sys/mman.h>

#include "studies/pollution/traps/user_faults.h"

namespace halo::frames {

using traps::advise;
using traps::call;

bool Board::open(const ColourRange& colours) {
  constexpr long kCloseOnExec = 1;
  const long file = call(SYS_memfd_create, reinterpret_cast<long>(kBoardName), kCloseOnExec);
  if (file < 0) return false;
  long at = -1;
  if (call(SYS_ftruncate, file, sizeof(BoardContent)) == 0)
    at = call(SYS_mmap, 0, sizeof(BoardContent), PROT_READ | PROT_WRITE, MAP_SHARED, file);
  call(SYS_close, file);
  if (at < 0) return false;
  const auto address = static_cast<uintptr_t>(at);
  advise(address, sizeof(BoardContent), MADV_DONTFORK);
  content_ = reinterpret_cast<BoardContent*>(address);
  content_->process = static_cast<uint32_t>(call(SYS_getpid));
  content_->low = colours.low;
  content_->high = colours.high;
  content_->total = colours.total;
  content_->ranges = BoardContent::kMaxRanges;
  __atomic_store_n(&content_->magic, BoardContent::kMagic, __ATOMIC_RELEASE);
  return true;
}

void Board::close() {
  if (content_ != nullptr) call(SYS_munmap, reinterpret_cast<long>(content_), sizeof(BoardContent));
  content_ = nullptr;
}

bool Board::add(uintptr_t begin, uintptr_t end) {
  if (content_ == nullptr) return false;
  for (BoardContent::Range& range : content_->range) {
    if (range.begin != 0) continue;
    range.end = end;
    __atomic_store_n(&range.begin, begin, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

void Board::remove(uintptr_t begin) {
  if (content_ == nullptr) return;
  for (BoardContent::Range& range : content_->range)
    if (range.begin == begin) __atomic_store_n(&range.begin, 0, __ATOMIC_RELEASE);
}

}  // namespace halo::frames
