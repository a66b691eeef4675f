// A recorded process, whichever engine it has.
#pragma once

#include <sys/types.h>

#include "recorder/consumer/channel_reader.h"

namespace halo::consumer {

class RecordedProcess {
 public:
  enum class Taken { kNothing, kEvents, kFork };

  virtual ~RecordedProcess() = default;

  virtual pid_t process() const = 0;
  // Whether the engine is still connected. Events may have arrived just before it ended.
  virtual bool connected() const = 0;
  // Waits briefly for events, and analyses them. kFork: the process is about to fork, and waits for
  // one of the next two functions.
  virtual Taken take() = 0;
  virtual void forked() = 0;
  // In the forked consumer: continues with the child, of which the process has sent these. Returns
  // false if they are of no use. The child keeps the live objects, but counts only its own events.
  virtual bool continue_as_child(const Descriptors& child) = 0;
  // Of the connection to the process.
  virtual int connection() const = 0;
  virtual void update_progress() = 0;
  // Returns false if the part cannot be written.
  virtual bool finish() = 0;
};

}  // namespace halo::consumer
