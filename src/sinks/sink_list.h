// The sinks that run: to add one, add its header and its name here.
#pragma once

#include <tuple>

#include "sinks/affinity_sink.h"
#include "sinks/context_sink.h"
#include "sinks/hot_stream_sink.h"
#include "sinks/simulator_sink.h"

namespace halo::sinks {

template <class... Sinks>
struct SinkTypes {
  using Instances = std::tuple<Sinks...>;
  using Results = std::tuple<typename Sinks::Result...>;
};

using SinkList = SinkTypes<ContextSink, AffinitySink, HotStreamSink, SimulatorSink>;

}  // namespace halo::sinks
