// Events of a trace packed into few bytes, and back: prediction by value, then zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/logged.h"

namespace halo::trace::file {

// What both sides must know of a site to predict alike.
struct SiteTraits {
  uint8_t kind = 0;   // SiteKind
  uint16_t size = 0;  // bytes
};

// Packs blocks of the threads of one process: those that it is given, in the order in which they
// are written. Others may be another packer's (frames.h). Takes all of its memory by mmap when it
// is made (ok() says whether that worked) and by add_sites.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  bool ok() const;
  // Their numbers follow on those added before; the first added is number kMarkers. False: no
  // memory, and none is added; then their module must not be written either.
  bool add_sites(std::span<const SiteTraits> sites);
  // At most kMostEvents, else nothing comes back; site numbers, not addresses. The result is valid
  // until the next call.
  std::span<const std::byte> pack(uint32_t thread, std::span<const Logged> events);
  static constexpr size_t kMostEvents = 1 << 16;

 private:
  class State;
  State* state_ = nullptr;  // in memory of its own
};

class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  void add_sites(std::span<const SiteTraits> sites);
  // Throws std::runtime_error with one sentence for a damaged payload.
  void unpack(uint32_t thread, std::span<const std::byte> payload, std::vector<Logged>& events);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::trace::file
