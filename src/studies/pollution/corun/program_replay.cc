#include "studies/pollution/corun/program_replay.h"

#include <iterator>
#include <stdexcept>

namespace halo::corun {

simulator::Machine private_levels(simulator::Machine machine) {
  if (machine.caches.size() < 2)
    throw std::invalid_argument(
        "the machine has no last level behind a private one, which programs could share");
  machine.caches.pop_back();
  machine.memory_cycles = 0;  // of the last level, which is not simulated here
  return machine;
}

void ProgramReplay::allocate(const objects::Allocation& one) {
  if (is_over()) return;
  if (one.number >= addresses_.size()) addresses_.resize(one.number + 1);
  addresses_[one.number] = one.address;
  if (one.number >= is_live_.size()) is_live_.resize(one.number + 1);
  is_live_[one.number] = true;
  live_[one.address] = {one.address + one.size, one.number};
  observer_.allocated(one);
}

void ProgramReplay::free(uint64_t number) {
  if (is_over()) return;
  const auto found = live_.find(addresses_[number]);
  if (found != live_.end() && found->second.object == number) live_.erase(found);
  is_live_[number] = false;
  observer_.freed(number);
}

uint64_t ProgramReplay::owner_of(simulator::Block line) {
  uint32_t& owner = owners_[line.name];
  if (owner != 0 && is_live_[owner]) return owner;
  const uint64_t begin = line.number * line_bytes_;
  auto first = live_.upper_bound(begin);
  if (first != live_.begin() && std::prev(first)->second.end > begin) --first;
  const bool is_in = first != live_.end() && first->first < begin + line_bytes_;
  owner = is_in ? uint32_t(first->second.object) : 0;
  return owner;
}

void ProgramReplay::read(simulator::Block line, bool demanded) {
  if (!demanded) return observer_.requested({RequestKind::kFill, line, owners_[line.name]});
  const RequestKind kind = demands_++ == 0 ? RequestKind::kDemand : RequestKind::kJoined;
  observer_.requested({kind, line, owner_of(line)});
}

void ProgramReplay::prefetch(simulator::Block line, bool kept) {
  const RequestKind kind = kept ? RequestKind::kPrefetch : RequestKind::kAhead;
  observer_.requested({kind, line, owner_of(line)});
}

void ProgramReplay::write_back(simulator::Block line) {
  observer_.requested({RequestKind::kWriteBack, line, owners_[line.name]});
}

}  // namespace halo::corun
