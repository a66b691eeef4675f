// Packs events of a trace and unpacks them: prediction by value, then zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tracing/format/logged.h"

namespace halo::trace {

// The facts about a site that both sides need for equal predictions.
struct SiteTraits {
  uint8_t kind = 0;   // SiteKind
  uint16_t size = 0;  // bytes
};

// Packs blocks of the threads of one process, in the order in which they are written. Another
// packer may pack other blocks (frames.h). Allocates all of its memory by mmap, on construction
// (see ok()) and in add_sites.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  bool ok() const;
  // Appends sites; the first one ever has the number kMarkers. Returns false if memory is refused;
  // then none is added, and their module must not be written.
  bool add_sites(std::span<const SiteTraits> sites);
  // Packs at most kMaxEvents events with site numbers, not addresses; the result is empty if there
  // are more. It is valid until the next call.
  std::span<const std::byte> pack(uint32_t thread, std::span<const Logged> events);
  static constexpr size_t kMaxEvents = 1 << 16;

 private:
  class State;
  State* state_ = nullptr;  // in its own memory
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

}  // namespace halo::trace
