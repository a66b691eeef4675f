// Runs Tidy's heap on addresses that do not exist, and traces its tables.
#include "studies/layouts/tidy_placement.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "studies/layouts/packing.h"
#include "tidy/simulated_memory.h"
#include "tidy/tracer.h"

namespace halo::layout {

namespace {

constexpr uint64_t kTablePage = 4096;

// Addresses of this process become addresses of the model: page by page, in the order of their
// first access.
class TableAccesses {
 public:
  void clear() { found_.clear(); }
  void add(uint64_t address, size_t bytes) {
    if (found_.empty() || found_.back().address != address)
      found_.push_back({address, static_cast<uint32_t>(bytes)});
  }
  void add(const void* at, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(at);
    for (uintptr_t next = begin; next < begin + bytes;) {
      const uintptr_t end = std::min((next / kTablePage + 1) * kTablePage, begin + bytes);
      add(modelled(next), end - next);
      next = end;
    }
  }
  const std::vector<OwnAccess>& found() const { return found_; }

 private:
  uint64_t modelled(uintptr_t at) {
    const uint64_t page = pages_.try_emplace(at / kTablePage, pages_.size()).first->second;
    return TidyPlacement::kFirstTable + page * kTablePage + at % kTablePage;
  }

  std::unordered_map<uintptr_t, uint64_t> pages_;
  std::vector<OwnAccess> found_;
};

// Of the model that the thread runs.
struct TidyTracer {
  static inline thread_local TableAccesses* accesses = nullptr;

  static void touch(const void* at, size_t bytes) {
    if (accesses != nullptr) accesses->add(at, bytes);
  }
};

// With the table of pages of src/tidy/page_memory.h, which has entries of that size.
class Memory : public tidy::TracedMemory<TidyTracer> {
 public:
  static constexpr uint64_t kEntry = 24;
  static constexpr uint64_t kFirstEntry = TidyPlacement::kFirstTable - (uint64_t{1} << 40);

  tidy::Page<Tracer>*& page(uint32_t number) {
    if (Tracer::accesses != nullptr) Tracer::accesses->add(kFirstEntry + number * kEntry, kEntry);
    return tidy::TracedMemory<TidyTracer>::page(number);
  }
};

}  // namespace

struct TidyPlacement::Model {
  using Heap = tidy::CellHeap<Memory>;

  explicit Model(const tidy::HeapSettings& settings) : heap(memory, settings) {}

  // Calls use(heap), and keeps what it accesses.
  template <class Use>
  auto trace(const Use& use) {
    accesses.clear();
    TidyTracer::accesses = &accesses;
    const auto result = use(heap);
    TidyTracer::accesses = nullptr;
    return result;
  }

  Memory memory;
  TableAccesses accesses;
  // On a page of its own, as in a program, so that its lines are always the same.
  alignas(kTablePage) Heap heap;
};

TidyPlacement::TidyPlacement(const ObjectKeys& keys, const tidy::HeapSettings& settings,
                             bool ignores_hints)
    : keys_(keys), ignores_hints_(ignores_hints), model_(std::make_unique<Model>(settings)) {
  if (!model_->heap.open()) throw std::runtime_error("too little memory to place its objects");
}

TidyPlacement::~TidyPlacement() = default;

bool TidyPlacement::places(uint64_t number, uint32_t size) const {
  return number < keys_.size() && keys_[number] && size <= model_->heap.max_bytes();
}

uint64_t TidyPlacement::allocate(uint64_t number, uint32_t size) {
  const uint32_t bytes = std::max(size, 1u);
  const tidy::Place place = model_->trace([&](Model::Heap& heap) {
    return ignores_hints_ ? heap.allocate_common(bytes) : heap.allocate(*keys_[number], bytes);
  });
  if (place == Model::Heap::kRefused)
    throw std::runtime_error("too little memory to place its objects");
  return kFirstAddress + place;
}

void TidyPlacement::free(uint64_t address) {
  model_->trace([&](Model::Heap& heap) { return heap.free(address - kFirstAddress); });
}

const std::vector<OwnAccess>& TidyPlacement::own_accesses() const {
  return model_->accesses.found();
}

}  // namespace halo::layout
