// One entry at a time, eight, and sixteen.
#include "simulator/ways.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace halo::simulator {

namespace {

// Over the entry of this way.
void put_first(Entry* set, uint32_t way, Entry entry) {
  std::memmove(set + 1, set, way * sizeof entry);
  set[0] = entry;
}

Entry insert(Entry* set, uint32_t ways, Entry entry) {
  const Entry last = set[ways - 1];
  put_first(set, ways - 1, entry);
  return last;
}

template <auto Find>
bool touch(Entry* set, uint32_t ways, Entry entry) {
  const uint32_t way = Find(set, ways, entry);
  if (way == ways) return false;
  put_first(set, way, entry | (set[way] & kDirty));
  return true;
}

uint32_t find(const Entry* set, uint32_t ways, Entry entry) {
  uint32_t way = 0;
  while (way < ways && (set[way] | kDirty) != (entry | kDirty)) ++way;
  return way;
}

__attribute__((target("avx2"))) uint32_t find_by_eight(const Entry* set, uint32_t ways,
                                                       Entry entry) {
  const __m256i dirty = _mm256_set1_epi32(int(kDirty));
  const __m256i key = _mm256_set1_epi32(int(entry | kDirty));
  for (uint32_t way = 0; way < ways; way += 8) {
    const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(set + way));
    const __m256i same = _mm256_cmpeq_epi32(_mm256_or_si256(eight, dirty), key);
    const auto which = uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    if (which != 0) return way + uint32_t(std::countr_zero(which));
  }
  return ways;
}

#define HALO_SIXTEEN __attribute__((target("avx512f")))

// A bit for each that is the entry.
HALO_SIXTEEN inline uint32_t same_of_sixteen(const Entry* sixteen, Entry entry) {
  const __m512i differ =
      _mm512_xor_si512(_mm512_load_si512(sixteen), _mm512_set1_epi32(int(entry)));
  return _mm512_testn_epi32_mask(differ, _mm512_set1_epi32(int(~kDirty)));
}

// Moves those of 16 that have a bit, from the first one on, by one, and puts `first` in front.
HALO_SIXTEEN inline void move_sixteen(Entry* set, uint32_t bits, Entry first) {
  const __m512i old = _mm512_load_si512(set);
  const __m512i in_front = _mm512_set1_epi32(int(first));
  _mm512_store_si512(set, _mm512_mask_alignr_epi32(old, __mmask16(bits), old, in_front, 15));
}

// Over an entry behind the first `whole` ones, a multiple of 16: the last of those with a bit.
HALO_SIXTEEN inline void put_first_by_sixteen(Entry* set, uint32_t whole, uint32_t bits,
                                              Entry entry) {
  for (uint32_t way = 0; way < whole; way += kLanes) {
    const Entry next = set[way + kLanes - 1];
    move_sixteen(set + way, 0xffff, entry);
    entry = next;
  }
  move_sixteen(set + whole, bits, entry);
}

HALO_SIXTEEN uint32_t find_by_sixteen(const Entry* set, uint32_t ways, Entry entry) {
  for (uint32_t way = 0; way < ways; way += kLanes) {
    const uint32_t same = same_of_sixteen(set + way, entry);
    if (same != 0) return way + uint32_t(std::countr_zero(same));
  }
  return ways;
}

HALO_SIXTEEN bool touch_by_sixteen(Entry* set, uint32_t ways, Entry entry) {
  for (uint32_t way = 0; way < ways; way += kLanes) {
    const uint32_t same = same_of_sixteen(set + way, entry);
    if (same == 0) continue;
    const Entry old = set[way + uint32_t(std::countr_zero(same))];
    put_first_by_sixteen(set, way, same ^ (same - 1), entry | (old & kDirty));
    return true;
  }
  return false;
}

HALO_SIXTEEN Entry insert_by_sixteen(Entry* set, uint32_t ways, Entry entry) {
  const Entry last = set[ways - 1];
  const uint32_t whole = (ways - 1) / kLanes * kLanes;
  put_first_by_sixteen(set, whole, (2u << (ways - 1 - whole)) - 1, entry);
  return last;
}

#undef HALO_SIXTEEN

}  // namespace

std::vector<WayOperations> configs_here() {
  std::vector<WayOperations> found = {{find, touch<find>, insert}};
  if (__builtin_cpu_supports("avx2"))
    found.push_back({find_by_eight, touch<find_by_eight>, insert});
  if (__builtin_cpu_supports("avx512f"))
    found.push_back({find_by_sixteen, touch_by_sixteen, insert_by_sixteen});
  return found;
}

WayOperations ways_here() { return configs_here().back(); }

}  // namespace halo::simulator
