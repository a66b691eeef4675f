// hashindex: an index of records with strings: look-ups, deletions and new records.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"
#include "hashindex/index.h"

namespace {

// Records are numbered; the oldest are deleted, newer ones take their place.
class Benchmark {
 public:
  Benchmark(uint32_t records, uint64_t seed) : seed_(mix64(seed)), rng_{seed} {
    while (newest_ < records) {
      insert_next();
    }
  }

  // One in eight look-ups is for a record that is deleted or not added yet.
  void look_up(uint64_t count) {
    const auto live = static_cast<uint32_t>(newest_ - oldest_);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t number = oldest_ + rng_below(&rng_, live + live / 7);
      if (hashindex::Record* record = index_.find(name_of(number))) {
        ++record->uses;
        ++found_;
      }
    }
  }

  // Deletes one in four of the records, the oldest, and inserts as many.
  void renew() {
    const uint64_t last = oldest_ + (newest_ - oldest_) / 4;
    while (oldest_ < last) {
      index_.erase(name_of(oldest_++));
      insert_next();
    }
  }

  void print() const {
    uint64_t checksum = found_;
    index_.for_each([&](const hashindex::Record& record) {
      checksum = checksum_add(checksum, record.hash + record.uses);
      checksum = checksum_add(checksum, record.text.size());
    });
    std::printf("hashindex: %zu records, %" PRIu64 " look-ups found\nchecksum %016" PRIx64 "\n",
                index_.size(), found_, checksum);
  }

 private:
  // 23 letters: too long to lie in the string itself.
  std::string name_of(uint64_t number) const {
    std::string name = "record-0000000000000000";
    uint64_t rest = mix64(seed_ + number);
    for (size_t at = name.size(); rest != 0; rest >>= 4) {
      name[--at] = "0123456789abcdef"[rest & 0xf];
    }
    return name;
  }

  void insert_next() {
    const auto letter = static_cast<char>('a' + newest_ % 26);
    std::string text(16 + mix64(seed_ ^ newest_) % 64, letter);
    index_.insert(name_of(newest_), std::move(text));
    ++newest_;
  }

  uint64_t seed_;
  Rng rng_;
  hashindex::Index index_;
  uint64_t oldest_ = 0;
  uint64_t newest_ = 0;
  uint64_t found_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {
      {"records", 8, 100000000, 0}, {"rounds", 0, 1000000, 0}, {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const auto records = static_cast<uint32_t>(arguments[0].value);

  Benchmark benchmark(records, static_cast<uint64_t>(arguments[2].value));
  for (long round = 0; round < arguments[1].value; ++round) {
    benchmark.look_up(records);
    benchmark.renew();
  }
  benchmark.print();
  return 0;
}
