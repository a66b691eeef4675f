// The program whose operations are counted, each of them many times.
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "plan/plan_builder.h"
#include "runtime/golden/markers.h"
#include "runtime/golden/sites.h"

// Without arguments it runs under libhalo.so and its own plan; `--plan FILE` writes that plan;
// `--known-work` runs code with known counts.
namespace halo::golden {
namespace {

constexpr int kWarm = 8, kCounted = 64;
constexpr size_t kSize = 32;

void mark(Marker marker, uint64_t a = 0, uint64_t b = 0) {
  syscall(kMarkerCall, static_cast<uint64_t>(marker), a, b);
}

template <typename Operation>
auto count(Path path, Operation operation) {
  struct Interval {
    explicit Interval(Path path) { mark(Marker::kBegin, static_cast<uint64_t>(path)); }
    ~Interval() { mark(Marker::kEnd); }
  };
  const Interval interval(path);
  return operation();
}

using Allocate = void* (*)(size_t);
using Release = void (*)(void*);

void release_sized(void* p) { ::operator delete(p, kSize); }

// The block of each round is that of the previous round.
void count_pairs(Path allocation, Allocate allocate, Path deallocation, Release release) {
  for (int i = 0; i < kWarm; ++i) release(allocate(kSize));
  for (int i = 0; i < kCounted; ++i) {
    void* p = count(allocation, [&] { return allocate(kSize); });
    count(deallocation, [&] { release(p); });
  }
}

// Nothing is freed before the end, so each block is cut off by bump allocation.
void count_bump() {
  std::array<void*, kWarm + kCounted> blocks;
  for (int i = 0; i < kWarm; ++i) blocks[i] = site_malloc_bump(kSize);
  for (int i = kWarm; i < kWarm + kCounted; ++i)
    blocks[i] = count(Path::kMallocBump, [] { return site_malloc_bump(kSize); });
  for (void* p : blocks) free(p);
}

void count_realloc() {
  void* p = site_malloc(kSize);
  for (size_t i = 0; i < kCounted; ++i)
    p = count(Path::kReallocForwarded, [&] { return site_realloc(p, kSize + i % 2 * 16); });
  free(p);
}

void count_known_work() {
  long word = 0;
  for (int i = 0; i < kCounted; ++i) count(Path::kKnownWork, [&] { known_work(&word); });
}

struct Text {
  uint64_t begin, end;
};

// The code range of the runtime.
int find_text(dl_phdr_info* info, size_t, void* into) {
  if (!std::string_view(info->dlpi_name).ends_with("/libhalo.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uint64_t begin = info->dlpi_addr + part.p_vaddr;
    *static_cast<Text*>(into) = {begin, begin + part.p_memsz};
    return 1;
  }
  return 0;
}

int count_fast_paths() {
  Text text{};
  if (dl_iterate_phdr(find_text, &text) == 0) {
    std::fputs("golden-fast-paths: libhalo.so is not preloaded\n", stderr);
    return 1;
  }
  mark(Marker::kText, text.begin, text.end);
  count_pairs(Path::kMallocForwarded, site_malloc, Path::kFreeForwarded, free);
  count_pairs(Path::kMallocReused, site_malloc_reused, Path::kFreeGrouped, free);
  count_bump();
  count_pairs(Path::kMallocFourthFrame, site_frame_4, Path::kFreeGrouped, free);
  count_pairs(Path::kNewForwarded, site_new, Path::kDeleteForwarded, release_sized);
  count_pairs(Path::kNewReused, site_new_reused, Path::kDeleteGrouped, release_sized);
  count_realloc();
  std::printf("%d allocations in each group\n", kWarm + kCounted);
  return 0;
}

// The executable is loaded at its link address: its load bias is 0.
uint64_t offset_of(const char* address) { return reinterpret_cast<uint64_t>(address); }

int write_plan(const char* path) {
  plan::PlanBuilder builder;
  builder.module(0x47);
  uint16_t groups = 0;
  const auto decide = [&](uint32_t parent, const char* at) {
    builder.group();
    builder.state(parent, offset_of(at), groups++, 0, plan::Rule::kEnd);
  };
  const auto go_on = [&](uint32_t parent, const char* at) {
    return builder.state(parent, offset_of(at), plan::kVerdictUndecided, kSiteStep);
  };
  decide(0, site_malloc_reused_return);
  decide(0, site_malloc_bump_return);
  decide(0, site_new_reused_return);
  decide(go_on(go_on(go_on(0, site_frame_1_return), site_frame_2_return), site_frame_3_return),
         site_frame_4_return);
  const auto bytes = builder.bytes();
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return 1;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written ? 0 : 1;
}

}  // namespace
}  // namespace halo::golden

int main(int argc, char** argv) {
  using namespace halo::golden;
  if (argc == 1) return count_fast_paths();
  if (argc == 3 && std::strcmp(argv[1], "--plan") == 0) return write_plan(argv[2]);
  if (argc == 2 && std::strcmp(argv[1], "--known-work") == 0) {
    mark(Marker::kText, offset_of(__start_halo_sites), offset_of(__stop_halo_sites));
    count_known_work();
    return 0;
  }
  std::fputs("usage: golden-fast-paths [--plan FILE | --known-work]\n", stderr);
  return 2;
}
