// One entry at a time, four, and eight.
#include "simulator/ways.h"

#include <immintrin.h>

#include <bit>

namespace halo::simulator {

namespace {

static_assert(kWaysAtOnce % 8 == 0);

__attribute__((target("avx2"))) uint32_t find_four_at_once(const uint64_t* set, uint32_t count,
                                                           uint64_t wanted) {
  const __m256i low_bit = _mm256_set1_epi64x(1);
  const __m256i key = _mm256_set1_epi64x(int64_t(wanted));
  for (uint32_t way = 0; way < count; way += 4) {
    const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(set + way));
    const __m256i same = _mm256_cmpeq_epi64(_mm256_or_si256(four, low_bit), key);
    const auto which = uint32_t(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
    if (which != 0) return way + uint32_t(std::countr_zero(which));
  }
  return count;
}

__attribute__((target("avx512f"))) uint32_t find_eight_at_once(const uint64_t* set, uint32_t count,
                                                               uint64_t wanted) {
  const __m512i key = _mm512_set1_epi64(int64_t(wanted));
  const __m512i others = _mm512_set1_epi64(~1);
  for (uint32_t way = 0; way < count; way += 8) {
    const __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(set + way), key);
    const uint32_t same = _mm512_testn_epi64_mask(differ, others);
    if (same != 0) return way + uint32_t(std::countr_zero(same));
  }
  return count;
}

}  // namespace

uint32_t find_way_plainly(const uint64_t* set, uint32_t count, uint64_t wanted) {
  uint32_t way = 0;
  while (way < count && (set[way] | 1) != wanted) ++way;
  return way;
}

FindWay find_way_here() {
  if (__builtin_cpu_supports("avx512f")) return find_eight_at_once;
  return __builtin_cpu_supports("avx2") ? find_four_at_once : find_way_plainly;
}

}  // namespace halo::simulator
