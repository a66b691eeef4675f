// The list of sinks: a new one needs its header and its name here.
#pragma once

#include <tuple>

#include "recorder/analysis/affinity_sink.h"
#include "recorder/analysis/conflicts/conflict_sink.h"
#include "recorder/analysis/context_sink.h"
#include "recorder/analysis/hot_stream_sink.h"
#include "recorder/analysis/object_trace_sink.h"
#include "recorder/analysis/simulator_sink.h"
#include "recorder/analysis/sweep_sink.h"

namespace halo::sinks {

template <class OneSink>
struct OptionsOf {
  typename OneSink::Options value;
};

template <class... Sinks>
struct SinkTypes {
  using Instances = std::tuple<Sinks...>;
  using Options = std::tuple<OptionsOf<Sinks>...>;
  using Results = std::tuple<typename Sinks::Result...>;

  // Calls `visit.operator()<OneSink>()` until one returns true; returns whether one did.
  template <class Visit>
  static bool any(Visit&& visit) {
    return (visit.template operator()<Sinks>() || ...);
  }
  template <class Visit>
  static void for_each(Visit&& visit) {
    (visit.template operator()<Sinks>(), ...);
  }
};

using SinkList = SinkTypes<ContextSink, AffinitySink, HotStreamSink, SimulatorSink, SweepSink,
                           ConflictSink, ObjectTraceSink>;

}  // namespace halo::sinks
