// The interface of the outputs, and their list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tracing/format/frames.h"
#include "tracing/format/logged.h"
#include "tracing/library/module_table.h"

namespace halo::logging {

// Only the consumer calls it. A function that returns false has failed with errno; the consumer
// then calls end() and nothing else. Outputs have no destructor and need no C++ runtime.
class Output {
 public:
  // A descriptor that the output inherits and needs; -1: none.
  virtual int inherited_descriptor() const { return -1; }
  // `metadata`: JSON, the trace's first frame.
  virtual bool begin(std::string_view /*metadata*/) { return true; }
  // Whether events are translated; false: they are only removed from the rings.
  virtual bool wants_events() const { return true; }
  // Its sites are numbered from module.first_site on; precedes all of its events.
  virtual bool module(const LoggedModule& /*module*/) { return true; }
  virtual bool maps(std::string_view /*json*/) { return true; }
  // At most Packer::kMaxEvents events, with site numbers.
  virtual bool events(uint32_t /*thread*/, std::span<const trace::Logged> /*events*/) {
    return true;
  }
  virtual bool round(uint64_t /*limit_key*/) { return true; }
  // The output sets `written` of the note. No call follows, unless continue_after_end() returns
  // true.
  virtual bool end(trace::EndNote& /*note*/) { return true; }
  // Removes the end after a failed exec; false if that is impossible.
  virtual bool continue_after_end() { return false; }
  // The consumer ends, and the process goes on: ends the output's own threads. No call follows.
  virtual void stop() {}
  // Called in a forked child: drops what the parent has opened. Returns false if a child gets no
  // output.
  virtual bool begin_in_child() { return true; }

 protected:
  ~Output() = default;
};

// Creates the output that HALO_TRACE requests; its first event opens it. Returns null if the value
// is malformed. `argument`: the part behind the colon, with an absolute path.
Output* choose_output(const char* value);

// Each creates an output of its kind in static memory; null if the argument is malformed.
Output* make_file_output(const char* argument);
Output* make_text_output(const char* argument);
Output* make_socket_output(const char* argument);
Output* make_pipe_output(const char* argument);
Output* make_none_output(const char* argument);

}  // namespace halo::logging
