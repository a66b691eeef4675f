// The contract of a sink, stated once.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/machine.h"
#include "sinks/event.h"
#include "sinks/object_table.h"

namespace halo::sinks {

// What all sinks are told at the beginning.
struct Parameters {
  uint32_t affinity_distance = 128;  // bytes
  uint32_t max_object_size = 4096;   // bytes; larger objects are not tracked
  uint64_t stream_references = 0;    // of the trace that hot data streams are found in; 0: none
  std::optional<simulator::Machine> machine =
      {};  // to simulate; it needs every access of the program
};

// A sink has three parts: begin(parameters), an on_event() for each kind of event it wants, and
// finish(), which returns its result as data. This base takes the events it does not want, so that
// calls are resolved at compile time: `using Sink::on_event;`, then add overloads. After finish()
// a sink may be given further events and be asked again. begin() is called again in
// a forked child: it drops all that was seen, but not what is live.
class Sink {
 public:
  explicit Sink(const ObjectTable& objects) : objects_(objects) {}

  template <class Event>
  void on_event(const Event&) {}

 protected:
  const ObjectTable& objects() const { return objects_; }

 private:
  const ObjectTable& objects_;
};

}  // namespace halo::sinks
