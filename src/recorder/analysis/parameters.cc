// Finds the option with a name.
#include "recorder/analysis/parameters.h"

#include <tuple>

namespace halo::sinks {

bool Parameters::set(std::string_view name, std::string_view text) {
  constexpr NumberOption kOwn{"max_object", &Parameters::max_object_size, Object::kMaxSize};
  if (name == kOwn.name) return kOwn.set(text, *this);
  return SinkList::any([&]<class OneSink>() {
    auto& options = std::get<OptionsOf<OneSink>>(sinks).value;
    return std::apply(
        [&](const auto&... option) {
          return ((option.name == name && option.set(text, options)) || ...);
        },
        OneSink::options());
  });
}

}  // namespace halo::sinks
