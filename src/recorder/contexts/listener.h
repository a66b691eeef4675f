// Shared functions of the processes that listen for recorded ones.
#pragma once

#include <sys/types.h>

#include <string>

namespace halo::record {

// Creates a non-blocking listening socket; returns -1 and errno on failure.
int listen_at(const std::string& path);

// False for a zombie: a process that has ended and that its parent has not waited for.
bool is_running(pid_t process);

}  // namespace halo::record
