// The part of the profile of one process (docs/profile-format.md), the interface for sinks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/json/writer.h"

namespace halo::sinks {

// The part lists frames after all sections, so that it includes the frames that sections refer to.
class Part : public JsonWriter {
 public:
  using JsonWriter::JsonWriter;
  virtual ~Part() = default;

  // The contexts that the part lists, in its order, and the index of a context in this list.
  virtual const std::vector<uint32_t>& contexts() const = 0;
  virtual uint32_t index_of(base::ContextId context) const = 0;

  // By context: its immediate caller of malloc, for frame(); kNoSite (co_allocation.h) if none.
  virtual std::vector<uint32_t> sites() const = 0;
  // The index in the part of a site's frame, and of the frame of a return address.
  virtual uint32_t frame(uint32_t site) = 0;
  virtual uint32_t frame_at(uint64_t return_address) = 0;
};

}  // namespace halo::sinks
