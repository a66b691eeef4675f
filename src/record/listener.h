// What the processes share that listen for recorded ones.
#pragma once

#include <sys/types.h>

#include <string>

namespace halo::record {

// A listening socket that does not block, or -1 and errno.
int listen_at(const std::string& path);

// False of a process that only waits for its parent to ask how it ended.
bool is_running(pid_t process);

}  // namespace halo::record
