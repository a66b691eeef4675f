// A guard page and a large sparse mapping.
#include "fuzz/synthetic_stack.h"

#include <sys/mman.h>

#include "fuzz/finding.h"
#include "plan/format.h"

namespace halo::fuzz {
namespace {

constexpr size_t page = 4096;
constexpr size_t max_reads = 257;
constexpr size_t space = max_reads * (size_t{plan::max_step} + 64) + (1 << 20);
constexpr size_t written_space = 2 << 20;

}  // namespace

void* map_stack_space() {
  void* whole =
      mmap(nullptr, page + space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(whole != MAP_FAILED, "no addresses for a synthetic stack");
  void* usable = static_cast<char*>(whole) + page;
  require(mprotect(usable, space, PROT_READ | PROT_WRITE) == 0, "no memory for a synthetic stack");
  return usable;
}

SyntheticStack::SyntheticStack() : bottom_(static_cast<uintptr_t*>(map_stack_space())) {}

bool SyntheticStack::write(uintptr_t address, uintptr_t value) {
  const auto begin = reinterpret_cast<uintptr_t>(bottom_);
  if (address < begin || address >= begin + written_space || address % 8 != 0) return false;
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
