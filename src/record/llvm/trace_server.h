// Takes the traces of all processes of a program, each by a connection of its own.
#pragma once

#include <functional>
#include <string>

namespace halo::record::llvm {

// Listens on the AF_UNIX socket, says `ready` on stdout, and calls read(descriptor) for each
// connection in a process of its own, which ends with the status that it returns. Ends when stdin
// does and every process that had connected has gone; what still runs by then is not waited for.
// Returns the highest status, or 1 where it cannot listen.
int serve_traces(const std::string& socket_path, const std::function<int(int)>& read);

}  // namespace halo::record::llvm
