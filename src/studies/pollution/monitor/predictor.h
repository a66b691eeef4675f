// Predicts the type of a new object by its allocation context (NightWatch, section 5.2).
//
// Two watched objects of a context in agreement are its prediction. Objects are skipped while
// predictions are confirmed: 0, 1, 2, 4, ... in a row up to a limit, which the paper does not have.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "studies/pollution/monitor/parameters.h"

namespace halo::watch {

class Predictor {
 public:
  // Contexts are numbered from 0; others are never confined and never watched.
  Predictor(const Parameters& parameters, uint32_t contexts)
      : parameters_(parameters), contexts_(contexts) {}

  // Both of the last two watched objects were polluters: restrictive. Anything else: open.
  Mapping predict(ContextIndex context) const;

  // Whether the context has two watched objects of a known type.
  bool knows(ContextIndex context) const {
    return context < contexts_.size() && known(contexts_[context]);
  }

  // Whether the next object of the context, of that size, is watched. To be called once for each.
  // A few objects wait for their types at a time, so that no context has all of the watch.
  // A size that differs from the last watched one makes the older of the two objects unknown.
  bool chooses(ContextIndex context, uint64_t bytes, uint64_t now_us);

  // An object of the context is watched from now on, or it is not any more, or its type is known.
  void began(ContextIndex context) { ++contexts_[context].pending; }
  void ended(ContextIndex context) { --contexts_[context].pending; }

  // The type of an object that was allocated when the context predicted `predicted`.
  void learn(ContextIndex context, Mapping predicted, Type found);

  // Predictions from two known objects that watching confirmed, and those that it did not.
  struct Score {
    uint64_t confirmed = 0;
    uint64_t wrong = 0;
  };
  Score score() const { return score_; }

 private:
  struct Context {
    std::array<Type, 2> last{};  // the newest first
    uint32_t interval = 0;       // objects to skip after the next watched one
    uint32_t left = 0;           // of them
    uint32_t pending = 0;        // watched objects without a type
    uint64_t bytes = 0;          // of the last watched object; 0: none
    uint64_t watched_us = 0;
  };

  static bool known(const Context& context) { return context.last[1] != Type::kUnknown; }

  Parameters parameters_;
  std::vector<Context> contexts_;
  Score score_;
};

}  // namespace halo::watch
