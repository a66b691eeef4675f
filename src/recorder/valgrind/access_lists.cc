// Stores lists without duplicates.
#include "recorder/valgrind/access_lists.h"

#include "recorder/valgrind/memory.h"

namespace halo::valgrind {

bool AccessLists::reserve(bool with_codes) {
  tags_ = valgrind::reserve<uint8_t>(kRoom);
  if (with_codes) codes_ = valgrind::reserve<uint64_t>(kRoom);
  return tags_ != nullptr && (!with_codes || codes_ != nullptr);
}

uint32_t AccessLists::add(const Access* accesses, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t at = 0; at < count; ++at) hash = (hash ^ accesses[at].tag) * 0x9E3779B97F4A7C15;
  uint32_t& recent = recent_[hash >> 50];
  if (codes_ == nullptr && recent != 0 && is_at(recent, accesses, count)) return recent;
  if (used_ + count > kRoom) return 0;
  for (uint32_t at = 0; at < count; ++at) {
    tags_[used_ + at] = accesses[at].tag;
    if (codes_ != nullptr) codes_[used_ + at] = accesses[at].code;
  }
  recent = used_;
  used_ += count;
  return recent;
}

bool AccessLists::is_at(uint32_t place, const Access* accesses, uint32_t count) const {
  for (uint32_t at = 0; at < count; ++at)
    if (place + at >= used_ || tags_[place + at] != accesses[at].tag) return false;
  return true;
}

}  // namespace halo::valgrind
