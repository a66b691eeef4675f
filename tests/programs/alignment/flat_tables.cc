// Many small hash tables with open addressing, like those of Abseil or Boost: sixteen control bytes
// are compared in one instruction. A look-up loads them from any address. With the argument `all`,
// traversals of the whole table load them aligned, as they start a block from operator new.
#include <emmintrin.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

constexpr unsigned width = 16;

class Table {
 public:
  Table() : controls_(new_block(width)), capacity_(width) {}
  ~Table() { ::operator delete(controls_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void insert(uint32_t key) {
    for (unsigned at = first(key);; at = (at + 1) % capacity_)
      if (controls_[at] == 0) {
        controls_[at] = control_of(key);
        keys()[at] = key;
        return;
      }
  }

  bool has(uint32_t key) const {
    const unsigned begin = first(key) / width * width;
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(control_of(key)));
    for (unsigned step = 0; step < capacity_; step += width) {
      const unsigned group = (begin + step) % capacity_;
      const auto* at = reinterpret_cast<const __m128i*>(controls_ + group);
      unsigned hits = mask(_mm_cmpeq_epi8(_mm_loadu_si128(at), wanted));
      for (; hits != 0; hits &= hits - 1)
        if (keys()[group + static_cast<unsigned>(__builtin_ctz(hits))] == key) return true;
    }
    return false;
  }

  uint64_t sum() const {
    uint64_t sum = 0;
    for (unsigned group = 0; group < capacity_; group += width) {
      const auto* at = reinterpret_cast<const __m128i*>(controls_ + group);
      unsigned full = 0xFFFF & ~mask(_mm_cmpeq_epi8(_mm_load_si128(at), _mm_setzero_si128()));
      for (; full != 0; full &= full - 1)
        sum += keys()[group + static_cast<unsigned>(__builtin_ctz(full))];
    }
    return sum;
  }

 private:
  static unsigned mask(__m128i bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }
  static unsigned char control_of(uint32_t key) {
    return static_cast<unsigned char>(0x80 | (key * 2654435769u) >> 25);
  }

  // A size that is not a multiple of 16, as of most tables.
  static unsigned char* new_block(unsigned capacity) {
    const size_t bytes = capacity + capacity * sizeof(uint32_t) + 4;
    return static_cast<unsigned char*>(std::memset(::operator new(bytes), 0, bytes));
  }

  unsigned first(uint32_t key) const { return (key * 2654435769u) % capacity_; }
  uint32_t* keys() const { return reinterpret_cast<uint32_t*>(controls_ + capacity_); }

  unsigned char* controls_;
  unsigned capacity_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "all") == 0;
  std::vector<std::unique_ptr<Table>> tables;
  for (uint32_t i = 0; i < 10000; ++i) {
    tables.push_back(std::make_unique<Table>());
    for (uint32_t k = 0; k < 9; ++k) tables.back()->insert(i * 31 + k * 7);
  }
  uint64_t sum = 0;
  for (int round = 0; round < 10; ++round)
    for (uint32_t i = 0; i < tables.size(); ++i) sum += tables[i]->has(i * 31 + 14);
  if (all)
    for (const auto& table : tables) sum = sum * 3 + table->sum();
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
