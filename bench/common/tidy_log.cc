// Tidy's functions for a program whose hints are logged: memory is malloc's, so that a recorder
// sees its objects.
//
// Writes a line "ADDRESS SIZE KEY" for each hinted object, in order of allocation, to the file that
// the environment names in HALO_BENCH_KEYS. This is what `halo-layout --keys-by-address` reads.
#include <halo/tidy.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "tidy/keys.h"

struct tidy_ctx {
  halo::tidy::KeyMaker keys;
};

namespace {

class Log {
 public:
  Log() {
    const char* const path = std::getenv("HALO_BENCH_KEYS");
    if (path != nullptr) file_ = std::fopen(path, "we");
    if (file_ != nullptr) std::setvbuf(file_, buffer_, _IOFBF, sizeof(buffer_));
  }
  ~Log() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void add(const void* p, size_t size, uint64_t key) {
    if (file_ != nullptr)
      std::fprintf(file_, "%" PRIuPTR " %zu %" PRIu64 "\n", address(p), size, key);
  }

 private:
  static uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

  FILE* file_ = nullptr;
  char buffer_[1 << 16];
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
