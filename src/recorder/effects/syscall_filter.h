// The system calls whose effects another run of the same program could see.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <set>
#include <string>

namespace halo::effects {

// From now on, such calls of this process and its descendants stop it for the tracer, whom
// PTRACE_EVENT_SECCOMP tells. All other calls run at full speed. Without a tracer they fail.
// Returns false if the kernel has no such filters.
bool install_filter();

class Effects {
 public:
  // Of the call that the process is about to make. It is harmless if it opens a device that keeps
  // nothing, removes what is not there, uses a file of `created`, or asks the name service.
  void add(pid_t process, const user_regs_struct& registers);
  void add(const std::string& effect);
  // Such as `openat /tmp/log`; empty if there was none.
  const std::string& first() const { return first_; }
  // Files that must not have existed. They are effects, too, if each run gives them these names.
  const std::set<std::string>& created() const { return created_; }

 private:
  std::string first_;
  std::set<std::string> created_;
};

}  // namespace halo::effects
