// Receives the traces of all processes of a program, each on its own connection.
#pragma once

#include <functional>
#include <string>

namespace halo::trace_tool {

// Listens on the AF_UNIX socket, prints `ready` on stdout, and calls read(descriptor) for each
// connection in its own process, which exits with the returned status. It ends when stdin has ended
// and the clients of all connections have exited; it does not wait for those that still run then.
// Returns the highest status, or 1 if it cannot listen.
int serve_traces(const std::string& socket_path, const std::function<int(int)>& read);

}  // namespace halo::trace_tool
