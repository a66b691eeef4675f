#include "studies/pollution/monitor/predictor.h"

#include <algorithm>

namespace halo::watch {

Mapping Predictor::predict(ContextIndex context) const {
  if (context >= contexts_.size()) return Mapping::kOpen;
  const Context& mine = contexts_[context];
  const bool pollutes = mine.last[0] == Type::kPolluter && mine.last[1] == Type::kPolluter;
  return pollutes ? Mapping::kRestrictive : Mapping::kOpen;
}

bool Predictor::chooses(ContextIndex context, uint64_t bytes, uint64_t now_us) {
  if (context >= contexts_.size() || bytes < parameters_.min_bytes) return false;
  Context& mine = contexts_[context];
  const bool is_large = bytes >= parameters_.always_bytes;
  if (mine.pending >= parameters_.max_pending && !is_large) return false;
  const bool other_size = mine.bytes != 0 && mine.bytes != bytes;
  const bool stale = now_us - mine.watched_us >= parameters_.stale_us;
  if (mine.left != 0 && !is_large && !other_size && !stale) {
    --mine.left;
    return false;
  }
  if (other_size) {
    mine.last[1] = Type::kUnknown;
    mine.interval = 0;
  }
  mine.bytes = bytes;
  mine.watched_us = now_us;
  mine.left = mine.interval;
  return true;
}

void Predictor::learn(ContextIndex context, Mapping predicted, Type found) {
  if (context >= contexts_.size() || found == Type::kUnknown) return;
  Context& mine = contexts_[context];
  if (known(mine)) {
    const bool confirmed = (predicted == Mapping::kRestrictive) == (found == Type::kPolluter);
    ++(confirmed ? score_.confirmed : score_.wrong);
    const uint32_t doubled = mine.interval == 0 ? 1 : 2 * mine.interval;
    mine.interval = confirmed ? std::min(doubled, parameters_.max_interval) : 0;
    mine.left = mine.interval;
  }
  mine.last = {found, mine.last[0]};
}

}  // namespace halo::watch
