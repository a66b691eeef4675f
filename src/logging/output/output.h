// What becomes of the events: the interface of the outputs, and the list of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "logging/module_table.h"
#include "trace/file/frames.h"
#include "trace/logged.h"

namespace halo::logging {

// Called by the consumer alone. A function that returns false has failed with errno: the output
// gets its end then, and nothing else. None has a destructor or needs a C++ runtime.
class Output {
 public:
  // A descriptor that was there before the consumer and that it needs; -1: none.
  virtual int inherited_descriptor() const { return -1; }
  // `about`: JSON, the trace's first frame.
  virtual bool begin(std::string_view /*about*/) { return true; }
  // Whether events are to be translated; false: they are only taken out of the rings.
  virtual bool wants_events() const { return true; }
  // The numbers of its sites begin at module.first_site; before any event of its.
  virtual bool module(const LoggedModule& /*module*/) { return true; }
  virtual bool maps(std::string_view /*json*/) { return true; }
  // At most Packer::kMostEvents, with site numbers.
  virtual bool events(uint32_t /*thread*/, std::span<const trace::Logged> /*events*/) {
    return true;
  }
  virtual bool round(uint64_t /*limit_key*/) { return true; }
  // `written` of the note is set here. Nothing follows, unless continue_after_end() says so.
  virtual bool end(trace::file::EndNote& /*note*/) { return true; }
  // The exec failed: takes the end back; false where that cannot be.
  virtual bool continue_after_end() { return false; }
  // In a forked child: gives up what the parent has opened. False: a child has no output.
  virtual bool begin_in_child() { return true; }

 protected:
  ~Output() = default;
};

// What HALO_TRACE asks for, opened as far as that cannot wait; null where it is not understood.
// `argument`: what follows the colon, with a path made absolute.
Output* choose_output(const char* value);

// Makes an output of its kind in memory that is there for good; null where its argument is wrong.
Output* make_file_output(const char* argument);
Output* make_text_output(const char* argument);
Output* make_socket_output(const char* argument);
Output* make_pipe_output(const char* argument);
Output* make_none_output(const char* argument);

}  // namespace halo::logging
