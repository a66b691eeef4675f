// rbtree: look-ups in a red-black tree of random payloads, after Miucin, section 3.5.
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "common/args.h"
#include "common/checksum.h"
#include "common/phase.h"
#include "common/rng.h"
#include "rbtree/audit_log.h"
#include "rbtree/tree.h"

namespace {

using rbtree::AuditLog;

// Payloads come from a numbered series, so that any earlier one can be generated again.
class Payloads {
 public:
  explicit Payloads(uint64_t seed) : seed_(mix64(seed)) {}

  float at(uint64_t number) const {
    constexpr int kUnusedBits = 64 - 24;  // a float has 24 significant bits
    return static_cast<float>(mix64(seed_ + number) >> kUnusedBits) / 64.0f;
  }

 private:
  uint64_t seed_;
};

class Benchmark {
 public:
  Benchmark(uint32_t nodes, uint64_t seed) : payloads_(seed), rng_{seed} {
    while (newest_ < nodes) {
      insert_next();
    }
  }

  // Look-ups, with renewals at equal distances.
  void run(long lookups, long renewals) {
    const Phase phase("traversal");
    const long lookups_per_renewal = lookups / (renewals + 1);
    for (long i = 0; i < renewals; ++i) {
      look_up(lookups_per_renewal);
      renew();
    }
    look_up(lookups - renewals * lookups_per_renewal);
  }

  void print() const {
    constexpr int kEntriesRead = 1000;
    uint64_t checksum = found_;
    tree_.for_each([&](float payload) {
      checksum = checksum_add(checksum, std::bit_cast<uint32_t>(payload));
    });
    const AuditLog::Entry* entry = log_.last();
    for (int i = 0; i < kEntriesRead && entry != nullptr; ++i, entry = entry->previous) {
      checksum = checksum_add(checksum, entry->sequence);
      checksum = checksum_add(checksum, static_cast<uint64_t>(entry->action));
    }
    std::printf("rbtree: %zu nodes, %" PRIu64 " look-ups found\nchecksum %016" PRIx64 "\n",
                tree_.size(), found_, checksum);
  }

 private:
  void look_up(long count) {
    for (long i = 0; i < count; ++i) {
      const auto window = static_cast<uint32_t>(newest_ - oldest_);
      const rbtree::Node* node = tree_.find(payloads_.at(oldest_ + rng_below(&rng_, window)));
      found_ += node != nullptr;
    }
  }

  // Puts a new payload in the place of the oldest one.
  void renew() {
    const float payload = payloads_.at(oldest_++);
    log_.record(tree_.erase(payload) ? AuditLog::Action::kErased : AuditLog::Action::kRefused,
                payload);
    insert_next();
  }

  void insert_next() {
    const float payload = payloads_.at(newest_++);
    log_.record(tree_.insert(payload) ? AuditLog::Action::kInserted : AuditLog::Action::kRefused,
                payload);
  }

  Payloads payloads_;
  Rng rng_;
  rbtree::Tree tree_;
  AuditLog log_;
  uint64_t oldest_ = 0;
  uint64_t newest_ = 0;
  uint64_t found_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"nodes", 1, 100000000, 0},
                          {"look-ups", 0, 1000000000, 0},
                          {"renewals", 0, 1000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);
  const long lookups = arguments[1].value;
  const long renewals = arguments[2].value;

  Benchmark benchmark(static_cast<uint32_t>(arguments[0].value),
                      static_cast<uint64_t>(arguments[3].value));
  benchmark.run(lookups, renewals);
  benchmark.print();
  return 0;
}
