// Moves of pages for a broker of frames.
#include <errno.h>

#include <cstring>

#include "studies/pollution/traps/page_requests.h"
#include "studies/pollution/traps/traps.h"

namespace halo::traps {

// The addresses had no pages, so one that is there now was moved (page_requests.h).
size_t Traps::move_pages(uintptr_t to, uintptr_t from, size_t count) {
  size_t done = 0;
  while (done < count) {
    const size_t offset = done * kPageBytes;
    MoveRequest request{to + offset, from + offset, (count - done) * kPageBytes, 0, 0};
    const long answer = control(file_, kMove, request);
    if (request.moved > 0) done += static_cast<size_t>(request.moved) / kPageBytes;
    if (answer == -EEXIST) {
      ++done;
      continue;
    }
    if (answer != 0 && answer != -EAGAIN) break;
    if (answer == -EAGAIN && request.moved < 0 && request.moved != -EAGAIN) break;
    if (answer == -EAGAIN && request.moved <= 0) read_ahead();  // another thread forks
  }
  return done;
}

size_t Traps::replace_frames(uintptr_t page, uintptr_t staging, uintptr_t fresh, size_t count) {
  if (page_map_ == kNoFile) return 0;  // children could not be served
  away_ = {page, staging, count};
  const size_t taken = move_pages(staging, page, count);
  std::memcpy(reinterpret_cast<void*>(fresh), reinterpret_cast<const void*>(staging),
              taken * kPageBytes);
  const size_t replaced = move_pages(page, fresh, taken);
  for (size_t at = replaced; at < taken; ++at)
    put_back(page + at * kPageBytes, staging + at * kPageBytes);
  away_ = {};
  return replaced;
}

// A copy: the frame stays where it is.
void Traps::put_back(uintptr_t to, uintptr_t from) {
  for (;;) {
    const long answer = copy_page(file_, to, from);
    if (is_settled(answer)) return;
    if (answer != -EAGAIN) pause_thread(kRetryNs);
    read_ahead();
  }
}

}  // namespace halo::traps
