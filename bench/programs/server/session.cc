// Sessions: they live as long as the server and remember the latest visits of a client.
#include "server/session.h"

#include "common/checksum.h"

namespace server {

Session::~Session() {
  while (oldest_ != nullptr) {
    forget_oldest();
  }
}

void Session::remember(uint32_t resource, uint64_t digest) {
  Visit* visit = new Visit{nullptr, digest, resource};
  if (newest_ != nullptr) {
    newest_->newer = visit;
  } else {
    oldest_ = visit;
  }
  newest_ = visit;
  if (++kept_ > kVisitsKept) {
    forget_oldest();
  }
}

uint64_t Session::summarise() const {
  uint64_t summary = kept_;
  for (const Visit* visit = oldest_; visit != nullptr; visit = visit->newer) {
    summary = checksum_add(summary, visit->digest ^ visit->resource);
  }
  return summary;
}

void Session::forget_oldest() {
  const Visit* visit = oldest_;
  oldest_ = visit->newer;
  delete visit;
  --kept_;
}

}  // namespace server
