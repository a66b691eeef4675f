// The interface of sinks.
#pragma once

#include <tuple>

#include "recorder/analysis/event.h"
#include "recorder/analysis/object_table.h"
#include "recorder/analysis/option.h"
#include "recorder/analysis/part.h"

namespace halo::sinks {

// A sink has three parts: begin(options), an on_event() for each kind of event that it handles, and
// finish(), which returns its result as data. This base ignores all other events, so that calls are
// resolved at compile time: write `using Sink::on_event;`, then add overloads. After finish() a
// sink may receive further events, and finish() may be called again. begin() is called again in a
// forked child: it resets all counts, but keeps live objects.
//
// A sink also owns its options and its sections of the profile: it hides the static members below
// that it needs. Every other component passes options on as text, and iterates over SinkList.
class Sink {
 public:
  struct Options {};

  explicit Sink(const ObjectTable& objects) : objects_(objects) {}

  template <class Event>
  void on_event(const Event&) {}

  // The table of its options (option.h).
  static constexpr auto options() { return std::tuple{}; }
  // Whether it requires every access of the program: MemoryEvents, their repeats and huge pages.
  template <class Options>
  static bool needs_all_accesses(const Options&) {
    return false;
  }

  // Whether the result has any activity, so that a forked process writes a part.
  template <class Result>
  static bool has_activity(const Result&) {
    return false;
  }
  // Whether the result has activity of a context, so that the part lists the context.
  template <class Result>
  static bool has_activity_in(const Result&, base::ContextId) {
    return false;
  }
  // Members of the part's object `parameters`.
  template <class Options>
  static void write_parameters(const Options&, Part&) {}
  // Members of a context's object.
  template <class Result>
  static void write_context(const Result&, base::ContextId, Part&) {}
  // Members of the object `totals`.
  template <class Result>
  static void write_totals(const Result&, Part&) {}
  // Sections: members of the part itself.
  template <class Result>
  static void write(const Result&, Part&) {}

 protected:
  const ObjectTable& objects() const { return objects_; }

 private:
  const ObjectTable& objects_;
};

}  // namespace halo::sinks
