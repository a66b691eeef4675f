// Packs objects, with and without reuse of memory.
#include "layout/packing.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace halo::layout {

namespace {

// By allocation number: the number of the object whose memory it shares, at first its own.
std::vector<uint64_t> owners(const Subject& subject) {
  std::vector<uint64_t> owner(subject.facts.size());
  std::iota(owner.begin(), owner.end(), 0);
  return owner;
}

// Births and deaths in order of time: the number, twice, plus one for a death.
std::vector<uint64_t> lifetimes(const std::vector<ObjectFacts>& facts) {
  std::vector<uint64_t> events;
  for (uint64_t number = 1; number < facts.size(); ++number) {
    if (!facts[number].exists()) continue;
    events.push_back(2 * number);
    if (facts[number].died != ObjectFacts::kNever) events.push_back(2 * number + 1);
  }
  const auto time = [&](uint64_t event) {
    const ObjectFacts& one = facts[event / 2];
    return event % 2 == 0 ? one.born : one.died;
  };
  std::stable_sort(events.begin(), events.end(),
                   [&](uint64_t a, uint64_t b) { return time(a) < time(b); });
  return events;
}

std::vector<uint64_t> reusing_owners(const Subject& subject, ShareKey key) {
  std::vector<uint64_t> owner = owners(subject);
  std::unordered_map<uint64_t, std::vector<uint64_t>> freed;  // by size and key: owners
  for (const uint64_t event : lifetimes(subject.facts)) {
    const uint64_t number = event / 2;
    const uint64_t kind = uint64_t{subject.facts[number].size} << 32 | key(subject, number);
    std::vector<uint64_t>& free = freed[kind];
    if (event % 2 != 0) {
      free.push_back(owner[number]);
    } else if (!free.empty()) {
      owner[number] = free.back();
      free.pop_back();
    }
  }
  return owner;
}

}  // namespace

std::vector<uint64_t> pack(const Subject& subject, const Order& order, ShareKey key,
                           const Packing& packing) {
  const std::vector<uint64_t> owner =
      packing.reuse ? reusing_owners(subject, key) : owners(subject);
  std::vector<uint64_t> addresses(subject.facts.size());
  uint64_t next = kFirstAddress;
  const auto put = [&](uint64_t number) {
    uint64_t& address = addresses[owner[number]];
    if (address == 0) {
      address = next + packing.overhead;
      const uint64_t bytes = uint64_t{subject.facts[number].size} + packing.overhead;
      next += (bytes + packing.step - 1) / packing.step * packing.step;
    }
    addresses[number] = address;
  };
  for (const uint64_t number : order) put(number);
  for (uint64_t number = 1; number < addresses.size(); ++number)
    if (subject.facts[number].exists()) put(number);
  return addresses;
}

}  // namespace halo::layout
