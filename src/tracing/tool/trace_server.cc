// Serves each connection in its own process: sinks are large, and a failing process affects no
// other.
#include "tracing/tool/trace_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "recorder/contexts/listener.h"

namespace halo::trace_tool {

namespace {

class Server {
 public:
  Server(int listener, const std::function<int(int)>& read) : listener_(listener), read_(read) {}

  int serve() {
    for (pollfd both[2] = {{listener_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};;) {
      if (poll(both, 2, -1) < 0 && errno != EINTR) break;
      accept_all();
      char ignored[64];
      if (both[1].revents != 0 && ::read(STDIN_FILENO, ignored, sizeof ignored) <= 0) break;
    }
    accept_all();  // clients that connected just before the end
    for (const Reader& reader : readers_) wait_for(reader);
    return max_status_;
  }

 private:
  struct Reader {
    pid_t process;
    pid_t traced;
  };

  void accept_all() {
    for (;;) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ucred traced{};
      socklen_t size = sizeof traced;
      getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &traced, &size);
      const pid_t process = fork();
      if (process == 0) {
        close(listener_);
        _exit(read_(connection));
      }
      if (process > 0) readers_.push_back({process, traced.pid});
      if (process < 0) max_status_ = 1;
      close(connection);
      std::erase_if(readers_, [this](const Reader& reader) {
        int status = 0;
        const bool has_ended = waitpid(reader.process, &status, WNOHANG) == reader.process;
        if (has_ended) count(status, false);
        return has_ended;
      });
    }
  }

  void wait_for(const Reader& reader) {
    int status = 0;
    bool is_stopped = false;
    while (waitpid(reader.process, &status, WNOHANG) == 0) {
      if (record::is_running(reader.traced)) is_stopped = kill(reader.process, SIGKILL) == 0;
      const timespec pause{0, 5000000};
      nanosleep(&pause, nullptr);
    }
    count(status, is_stopped);
  }

  // A reader that ended by a signal has failed, unless it was stopped here.
  void count(int status, bool is_stopped) {
    const int failed = is_stopped ? 0 : 1;
    max_status_ = std::max(max_status_, WIFEXITED(status) ? WEXITSTATUS(status) : failed);
  }

  int listener_;
  const std::function<int(int)>& read_;
  std::vector<Reader> readers_;
  int max_status_ = 0;
};

}  // namespace

int serve_traces(const std::string& socket_path, const std::function<int(int)>& read) {
  const int listener = record::listen_at(socket_path);
  if (listener < 0) {
    fprintf(stderr, "%s: %s\n", socket_path.c_str(), strerror(errno));
    return 1;
  }
  puts("ready");
  fflush(stdout);
  return Server(listener, read).serve();
}

}  // namespace halo::trace_tool
