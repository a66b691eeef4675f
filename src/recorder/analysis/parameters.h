// The parameters of an analysis: its own, and the options of all sinks.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "recorder/analysis/sink_list.h"

namespace halo::sinks {

struct Parameters {
  uint32_t max_object_size = 4096;  // bytes; larger objects are not tracked
  SinkList::Options sinks;

  template <class OneSink>
  const typename OneSink::Options& of() const {
    return std::get<OptionsOf<OneSink>>(sinks).value;
  }
  template <class OneSink>
  Parameters with(typename OneSink::Options options) const {
    Parameters changed = *this;
    std::get<OptionsOf<OneSink>>(changed.sinks).value = std::move(options);
    return changed;
  }

  bool need_all_accesses() const {
    return SinkList::any(
        [this]<class OneSink>() { return OneSink::needs_all_accesses(of<OneSink>()); });
  }

  // Returns false if no option has this name, or the option does not accept the value.
  bool set(std::string_view name, std::string_view text);
};

}  // namespace halo::sinks
