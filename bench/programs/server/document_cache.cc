// Renders documents and keeps the recently used ones.
#include "server/document_cache.h"

#include "common/checksum.h"
#include "common/rng.h"

namespace server {

namespace {

// The same for every rendering: whether a document was in the cache does not show in responses.
Document render(uint32_t resource) {
  constexpr uint32_t kMinimumWords = 4;
  constexpr uint32_t kMoreWords = 28;
  Rng rng{resource};
  Document document{resource, resource, {}};
  for (uint32_t left = kMinimumWords + rng_below(&rng, kMoreWords); left > 0; --left) {
    document.words.push_back(rng_next(&rng));
    document.digest = checksum_add(document.digest, document.words.back());
  }
  return document;
}

}  // namespace

const Document& DocumentCache::get(uint32_t resource) {
  const auto place = places_.find(resource);
  if (place != places_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, place->second);
    return by_use_.front();
  }
  if (by_use_.size() == capacity_) {
    places_.erase(by_use_.back().resource);
    by_use_.pop_back();
  }
  by_use_.push_front(render(resource));
  places_.emplace(resource, by_use_.begin());
  return by_use_.front();
}

}  // namespace server
