// A block of cells of the lattice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/rng.h"
#include "lattice/populations.h"

namespace lattice {

class Block {
 public:
  Block(size_t cells, Rng& rng) : cells_(cells), populations_(make_populations(cells, rng)) {}
  ~Block() { free_populations(populations_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Lets particles collide in every cell: all populations are read and written in lockstep.
  void collide();
  // Exchanges what leaves the last cell of this block with what leaves the first cell of the next.
  void exchange(Block& next);
  double mass() const;
  uint64_t checksum(uint64_t checksum) const;

 private:
  size_t cells_;
  Populations populations_;
};

}  // namespace lattice
