// The tables of the predictor, and how it treats each kind of site.
#include "tracing/format/predictor.h"

#include <algorithm>

#include "tracing/format/site.h"

namespace halo::trace {
namespace {

uint8_t behaviour_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::kLoad:
    case SiteKind::kUpdate:
      return kInMemory | kYieldsValue | kYieldsAddress;
    case SiteKind::kStore:
      return kInMemory | kYieldsAddress;
    case SiteKind::kEnter:
      return kInMemory | kOpensFrame;
    case SiteKind::kExit:
      return kInMemory | kClosesFrame;
    case SiteKind::kAllocation:
      return kYieldsPointer;
    default:
      return 0;
  }
}

uint8_t behaviour_of(Marker marker) {
  switch (marker) {
    case Marker::kAlloc:
      return kYieldsPointer;
    case Marker::kAllocFrom:
    case Marker::kFrame:
      return kInMemory;
    default:
      return 0;
  }
}

SiteState first_state(uint8_t behaviour, size_t bytes) {
  SiteState state{};
  state.behaviour = behaviour;
  state.bits = uint8_t(8 * (bytes == 0 ? 8 : std::min<size_t>(bytes, 8)) - 1);
  state.address_code = kAddressLiteral;
  state.value_code = kValueImage;
  return state;
}

size_t pages_of(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

Predictor::Predictor()
    : memory_(sizeof(Tables)), site_memory_(pages_of(kMarkers * sizeof(SiteState))) {
  if (!ok()) return;
  memory_.prefer_large_pages();
  tables_ = memory_.as<Tables>();
  sites_ = site_memory_.as<SiteState>();
  for (uint64_t marker = 0; marker < kMarkers; ++marker) {
    sites_[marker] = first_state(behaviour_of(Marker(marker)), 8);
  }
  site_count_ = kMarkers;
}

bool Predictor::add_sites(std::span<const SiteTraits> sites) {
  const size_t wanted = pages_of((site_count_ + sites.size()) * sizeof(SiteState));
  // Grows by at least a factor of two, so that many small modules do not copy the table repeatedly.
  const size_t bytes = site_memory_.bytes();
  if (wanted > bytes && !site_memory_.grow(std::max(wanted, 2 * bytes))) return false;
  sites_ = site_memory_.as<SiteState>();
  for (const SiteTraits& traits : sites) {
    const uint8_t behaviour = behaviour_of(SiteKind(traits.kind));
    const bool address_sized = (behaviour & (kOpensFrame | kClosesFrame)) != 0;
    sites_[site_count_++] = first_state(behaviour, address_sized ? 8 : traits.size);
  }
  return true;
}

}  // namespace halo::trace
