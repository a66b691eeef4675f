// When each of a fixed number of things is due, the earliest first.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace halo::watch {

// A binary heap of numbers 0 to capacity - 1, each with one deadline at most. Equal deadlines are
// due in the order of the numbers. All memory is allocated at once.
class Deadlines {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  explicit Deadlines(uint32_t capacity) : places_(capacity, kAbsent) { heap_.reserve(capacity); }

  // The earliest deadline; kNever if there is none.
  uint64_t first() const { return heap_.empty() ? kNever : heap_.front().at; }

  void set(uint32_t number, uint64_t at) {
    clear(number);
    places_[number] = static_cast<uint32_t>(heap_.size());
    heap_.push_back({at, number});
    up(places_[number]);
  }

  void clear(uint32_t number) {
    const uint32_t place = places_[number];
    if (place == kAbsent) return;
    places_[number] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    up(place);
    down(places_[last.number]);
  }

  // Removes the number with the earliest deadline, which must exist.
  uint32_t take_first() {
    const uint32_t number = heap_.front().number;
    clear(number);
    return number;
  }

 private:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  struct Entry {
    uint64_t at;
    uint32_t number;

    bool operator<(const Entry& other) const {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  void put(uint32_t place, Entry entry) {
    heap_[place] = entry;
    places_[entry.number] = place;
  }

  void exchange(uint32_t a, uint32_t b) {
    const Entry first = heap_[a];
    put(a, heap_[b]);
    put(b, first);
  }

  void up(uint32_t place) {
    for (; place != 0 && heap_[place] < heap_[(place - 1) / 2]; place = (place - 1) / 2)
      exchange(place, (place - 1) / 2);
  }

  void down(uint32_t place) {
    const auto size = static_cast<uint32_t>(heap_.size());
    for (;;) {
      uint32_t least = place;
      for (uint32_t child = 2 * place + 1; child <= 2 * place + 2 && child < size; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (least == place) return;
      exchange(place, least);
      place = least;
    }
  }

  std::vector<Entry> heap_;
  std::vector<uint32_t> places_;  // of each number in the heap; kAbsent: none
};

}  // namespace halo::watch
