// Packs objects, with and without reuse of memory.
#include "studies/layouts/packing.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "studies/layouts/lifetimes.h"

namespace halo::layout {

namespace {

// By allocation number: the number of the object whose memory it shares, at first its own.
std::vector<uint64_t> owners(const Subject& subject) {
  std::vector<uint64_t> owner(subject.facts.size());
  std::iota(owner.begin(), owner.end(), 0);
  return owner;
}

uint64_t rounded_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// Bytes of an object's memory, without overhead.
uint64_t room(const ObjectFacts& one, const Packing& packing) {
  constexpr uint64_t kLeast = 24, kStep = 16, kHeader = 8;
  if (!packing.reuse) return one.size;
  return rounded_up(std::max<uint64_t>(one.size, kLeast) - kHeader, kStep) + kHeader;
}

std::vector<uint64_t> reusing_owners(const Subject& subject, ShareKey key, const Packing& packing) {
  std::vector<uint64_t> owner = owners(subject);
  std::unordered_map<uint64_t, std::vector<uint64_t>> freed;  // by room and key: owners
  for (const auto& [number, is_death] : lifetimes(subject.facts)) {
    if (subject.facts[number].alignment > packing.step) continue;
    // Ordinary and huge pages are apart.
    const uint64_t pages = uint64_t{subject.facts[number].in_huge_pages} << 63;
    const uint64_t kind = pages | room(subject.facts[number], packing) << 32 | key(subject, number);
    std::vector<uint64_t>& free = freed[kind];
    if (is_death) {
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
      packing.reuse ? reusing_owners(subject, key, packing) : owners(subject);
  std::vector<uint64_t> addresses(subject.facts.size());
  uint64_t next_in[] = {kFirstAddress, kFirstHugeAddress};  // ordinary and huge pages
  const auto put = [&](uint64_t number) {
    uint64_t& address = addresses[owner[number]];
    if (address == 0) {
      const ObjectFacts& one = subject.facts[number];
      uint64_t& next = next_in[one.in_huge_pages];
      address = rounded_up(next + packing.overhead, std::max(packing.step, one.alignment));
      next = rounded_up(address + room(one, packing), packing.step);
    }
    addresses[number] = address;
  };
  for (const uint64_t number : order) put(number);
  for (uint64_t number = 1; number < addresses.size(); ++number)
    if (subject.facts[number].exists()) put(number);
  return addresses;
}

AddressRange huge_pages_of(const Subject& subject, const std::vector<uint64_t>& addresses) {
  AddressRange found{kFirstHugeAddress, kFirstHugeAddress};
  for (uint64_t number = 1; number < addresses.size(); ++number)
    if (subject.facts[number].in_huge_pages)
      found.end = std::max(found.end, addresses[number] + subject.facts[number].size);
  constexpr uint64_t kPage = 2 << 20;
  found.end = rounded_up(found.end, kPage);
  return found;
}

}  // namespace halo::layout
