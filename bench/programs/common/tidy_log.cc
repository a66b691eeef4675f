// Tidy's functions for a program whose hints are logged: memory is malloc's, so that a recorder
// sees its objects.
//
// Writes a line "ADDRESS SIZE KEY" for each hinted object, in order of allocation, to the file that
// the environment names in HALO_BENCH_KEYS. This is what `halo-layout --keys-by-address` reads.
#include <halo/tidy.h>
#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "tidy/keys.h"

struct tidy_ctx {
  halo::tidy::KeyMaker keys;
};

namespace {

// Kept in memory until the program ends, so that a recording has few accesses of the log: one to 16
// bytes for each object.
class Log {
 public:
  Log() {
    const char* const path = std::getenv("HALO_BENCH_KEYS");
    if (path == nullptr) return;
    void* const memory = mmap(nullptr, kMax * sizeof(Entry), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    file_ = std::fopen(path, "we");
    if (memory == MAP_FAILED || file_ == nullptr) std::exit(1);
    next_ = entries_ = static_cast<Entry*>(memory);
  }
  ~Log() {
    if (file_ == nullptr) return;
    for (const Entry* one = entries_; one != next_; ++one)
      std::fprintf(file_, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", one->block >> kSizeBits,
                   one->block & kMaxSize, one->key);
    std::fclose(file_);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Objects that are too large for the log are too large for a bucket, too.
  void add(const void* p, size_t size, uint64_t key) {
    if (entries_ == nullptr || size > kMaxSize) return;
    if (next_ == entries_ + kMax) std::exit(1);
    *next_++ = {reinterpret_cast<uintptr_t>(p) << kSizeBits | size, key};
  }

 private:
  static constexpr int kSizeBits = 16;  // addresses have 47
  static constexpr size_t kMaxSize = (1 << kSizeBits) - 1;
  static constexpr size_t kMax = 1 << 25;  // objects

  struct Entry {
    uint64_t block;  // its address and size
    uint64_t key;
  };

  FILE* file_ = nullptr;
  Entry* entries_ = nullptr;
  Entry* next_ = nullptr;
};

Log& log() {
  static Log one;
  return one;
}

}  // namespace

tidy_ctx_t* tidy_create(const tidy_settings_t* settings) {
  std::array<uint32_t, halo::tidy::kMaxDimensions> sizes{};
  std::copy_n(settings->sizes, sizes.size(), sizes.begin());
  return new tidy_ctx{halo::tidy::KeyMaker(std::max(settings->dimensions, 1u), sizes)};
}

void tidy_destroy(tidy_ctx_t* ctx) { delete ctx; }

void* tidy_alloc_aligned(tidy_ctx_t* ctx, size_t, size_t size, const unsigned* hint) {
  void* const p = std::malloc(size);
  if (p != nullptr && hint != nullptr) log().add(p, size, ctx->keys.key(hint));
  return p;
}

void* tidy_alloc(tidy_ctx_t* ctx, size_t size, const unsigned* hint) {
  return tidy_alloc_aligned(ctx, alignof(max_align_t), size, hint);
}

void tidy_free(void* p) { std::free(p); }
