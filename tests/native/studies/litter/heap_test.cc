// Littering of a heap of the program's own: only that heap is used, as malloc's would be.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "studies/litter/requests.h"
#include "studies/litter/sample.h"

namespace halo::litter {
namespace {

// Refuses memory after `room` objects.
class Heap {
 public:
  explicit Heap(size_t room = SIZE_MAX) : room_(room) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() {
    for (const auto& [object, size] : live) delete[] static_cast<char*>(object);
  }

  halo_litter_heap functions() {
    return {
        [](void* self, size_t size, uint64_t random) {
          return static_cast<Heap*>(self)->allocate(size, random);
        },
        [](void* self, void* object) { static_cast<Heap*>(self)->release(object); },
        this,
    };
  }

  std::vector<size_t> sizes;
  std::vector<uint64_t> randoms;
  std::map<void*, size_t> live;

 private:
  void* allocate(size_t size, uint64_t random) {
    if (sizes.size() == room_) return nullptr;
    sizes.push_back(size);
    randoms.push_back(random);
    void* const object = new char[size + 1];
    live[object] = size;
    return object;
  }
  void release(void* object) {
    EXPECT_EQ(live.erase(object), 1u);
    delete[] static_cast<char*>(object);
  }

  const size_t room_;
};

class OwnHeap : public testing::Test {
 protected:
  OwnHeap() {
    sample_.size(0, 10).size(40, 300).size(56, 690).max_live = 1000;
    text_ = sample_.text();
  }
  halo_litter_outcome litter(Heap& heap, double occupancy, uint64_t seed, int groups = 0) {
    const File file(text_);
    const halo_litter_settings settings{file.path(), occupancy, 1, seed, 1, groups};
    const halo_litter_heap functions = heap.functions();
    return halo_litter_in(&settings, &functions, &report_);
  }

  Sample sample_;
  std::string text_;
  halo_litter_report report_;
};

TEST_F(OwnHeap, IsLitteredInsteadOfMallocs) {
  Heap heap;
  Requests requests;
  ASSERT_EQ(litter(heap, 0.75, 1), HALO_LITTERED) << report_.problem;
  EXPECT_EQ(requests.sizes.size(), 0u);
  EXPECT_EQ(std::count(heap.sizes.begin(), heap.sizes.end(), 56), 690);
  EXPECT_EQ(report_.objects, 1000u);
  EXPECT_EQ(report_.kept, heap.live.size());
  EXPECT_EQ(heap.live.size(), 750u);
}

TEST_F(OwnHeap, GetsNumbersThatDependOnTheSeed) {
  Heap first, again, other;
  litter(first, 0.5, 7);
  litter(again, 0.5, 7);
  litter(other, 0.5, 8);
  EXPECT_EQ(first.randoms, again.randoms);
  EXPECT_EQ(first.sizes, again.sizes);
  EXPECT_NE(first.randoms, other.randoms);
  EXPECT_EQ(std::set(first.randoms.begin(), first.randoms.end()).size(), 1000u);
}

TEST_F(OwnHeap, IsLitteredInPartIfItRefusesMemory) {
  Heap heap(100);
  EXPECT_EQ(litter(heap, 0.5, 1), HALO_LITTERED_IN_PART);
  EXPECT_EQ(report_.objects, 100u);
  EXPECT_EQ(report_.kept, heap.live.size());
  EXPECT_LT(heap.live.size(), 100u);
}

TEST_F(OwnHeap, HasNoGroups) {
  Heap heap;
  EXPECT_EQ(litter(heap, 0.5, 1, 1), HALO_NOT_LITTERED);
  EXPECT_TRUE(heap.sizes.empty());
  EXPECT_NE(std::string(report_.problem).find("groups"), std::string::npos);
}

}  // namespace
}  // namespace halo::litter
