// A guard page and a large sparse mapping.
#include "fuzz/synthetic_stack.h"

#include <sys/mman.h>

#include "fuzz/finding.h"
#include "plan/format.h"

namespace halo::fuzz {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMaxReads = 257;
constexpr size_t kSpace = kMaxReads * (size_t{plan::kMaxStep} + 64) + (1 << 20);
constexpr size_t kWrittenSpace = 2 << 20;

}  // namespace

void* map_stack_space() {
  void* whole =
      mmap(nullptr, kPage + kSpace, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(whole != MAP_FAILED, "no addresses for a synthetic stack");
  void* usable = static_cast<char*>(whole) + kPage;
  require(mprotect(usable, kSpace, PROT_READ | PROT_WRITE) == 0, "no memory for a synthetic stack");
  return usable;
}

SyntheticStack::SyntheticStack() : bottom_(static_cast<uintptr_t*>(map_stack_space())) {}

bool SyntheticStack::write(uintptr_t address, uintptr_t value) {
  const auto begin = reinterpret_cast<uintptr_t>(bottom_);
  if (address < begin || address >= begin + kWrittenSpace || address % 8 != 0) return false;
  auto* word = reinterpret_cast<uintptr_t*>(address);
  *word = value;
  written_.push_back(word);
  return true;
}

void SyntheticStack::clear() {
  for (uintptr_t* word : written_) *word = 0;
  written_.clear();
}

}  // namespace halo::fuzz
