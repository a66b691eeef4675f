// halo-consumer: writes a part of the profile for each recorded process.
//
// halo-consumer SOCKET NAME=VALUE...   the arguments of docs/recorder.md
//
// It listens at SOCKET until its standard input ends. Each recorded process has a consumer process:
// the analyses are large, and a fork of the recorded process is a fork of its consumer.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "recorder/channel/connection.h"
#include "recorder/consumer/channel_process.h"
#include "recorder/consumer/stream_process.h"
#include "recorder/contexts/listener.h"
#include "recorder/contexts/options.h"

namespace {

using namespace halo::record;
using namespace halo::consumer;

// Of other users, a process could send anything to a socket without a file.
bool is_trusted(int connection) {
  const uid_t own = geteuid();
  return own == 0 || halo::channel::user_of_peer(connection) == own;
}

bool is_readable(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

// The worst exit status of the children that have ended; without WNOHANG of all. Ended ones that
// are not reaped count against limits of the recorded program.
int reap_children(int options) {
  int worst = 0, status = 0;
  for (;;) {
    const pid_t ended = waitpid(-1, &status, options);
    if (ended < 0 && errno == EINTR) continue;
    if (ended <= 0) return worst;
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
}

// The process that has sent these; null if they are of no use.
std::unique_ptr<RecordedProcess> recorded_process(const halo::record::Options& options,
                                                  const Descriptors& ends) {
  if (!is_streams(ends.memory)) {
    auto reader = std::make_unique<ChannelReader>(ends);
    if (!reader->good()) return nullptr;
    return std::make_unique<ChannelProcess>(options, std::move(reader));
  }
  auto reader = std::make_unique<StreamReader>(ends);
  if (!reader->good()) return nullptr;
  return std::make_unique<StreamProcess>(options, std::move(reader));
}

// Serves one process to its end. `stop` becomes readable when the recording is over: the part of a
// process that goes on is then written if `keeps` is set, else dropped.
class Session {
 public:
  Session(std::unique_ptr<RecordedProcess> recorded, int stop, bool keeps)
      : stop_(stop), keeps_(keeps), recorded_(std::move(recorded)) {}

  int serve() {
    for (;;) {
      const bool connected = recorded_->connected();
      const RecordedProcess::Taken taken = recorded_->take();
      if (keeps_ && is_readable(stop_)) return std::max(recorded_->finish() ? 0 : 1, worst_);
      if (taken != RecordedProcess::Taken::kNothing) {
        is_expected_ = false;
        if (taken == RecordedProcess::Taken::kFork && !serve_fork()) return 1;
      } else if (!connected) {
        if (is_expected_) return 0;
        return std::max(recorded_->finish() ? 0 : 1, worst_);
      } else if (is_readable(stop_) && halo::record::is_running(recorded_->process())) {
        return 0;  // it outlives the recording: its part is not needed
      }
      recorded_->update_progress();
      worst_ = std::max(worst_, reap_children(WNOHANG));
    }
  }

 private:
  // Returns false in a consumer of a child that cannot be served.
  bool serve_fork() {
    const Descriptors child = receive(recorded_->connection());
    const pid_t made = fork();
    if (made < 0) worst_ = 1;
    if (made == 0) {
      worst_ = 0;
      is_expected_ = true;
      return recorded_->continue_as_child(child);
    }
    close(child.memory);
    close(child.connection);
    recorded_->forked();
    return true;
  }

  const int stop_;
  const bool keeps_;
  int worst_ = 0;             // exit status of the consumers of forked children
  bool is_expected_ = false;  // a forked child that has sent nothing: its fork may have failed
  std::unique_ptr<RecordedProcess> recorded_;
};

int serve_connection(const halo::record::Options& options, int connection, int stop, bool keeps) {
  try {
    Descriptors ends = receive(connection);
    ends.connection = connection;
    auto recorded = recorded_process(options, ends);
    return recorded == nullptr ? 1 : Session(std::move(recorded), stop, keeps).serve();
  } catch (const std::exception& error) {
    fprintf(stderr, "halo-consumer: %s\n", error.what());
    return 1;
  }
}

int serve(const halo::record::Options& options, int listener, bool keeps) {
  int stop[2], worst = 0;
  if (pipe(stop) != 0) return 1;
  for (pollfd both[2] = {{listener, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};;) {
    if (poll(both, 2, -1) < 0 && errno != EINTR) break;
    if (both[0].revents != 0) {
      worst = std::max(worst, reap_children(WNOHANG));
      const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const bool is_served = connection >= 0 && is_trusted(connection);
      const pid_t made = is_served ? fork() : 0;
      if (made < 0) worst = 1;
      if (is_served && made == 0) {
        close(stop[1]);
        close(listener);
        _exit(serve_connection(options, connection, stop[0], keeps));
      }
      close(connection);
    }
    char ignored[64];
    if (both[1].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) break;
  }
  close(stop[1]);
  return std::max(worst, reap_children(0));
}

}  // namespace

int main(int count, char** arguments) {
  halo::record::Options options;
  if (count < 2 || !halo::record::parse_options({arguments + 2, size_t(count - 2)}, options))
    return 2;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);  // it wakes often, and need not interrupt the program
  signal(SIGPIPE, SIG_IGN);
  const int listener = halo::record::listen_at(arguments[1]);
  if (listener < 0) {
    fprintf(stderr, "halo-consumer: %s: %s\n", arguments[1], strerror(errno));
    return 1;
  }
  puts("ready");
  fflush(stdout);
  // A process that connects to a name, not to a file, has run before and goes on.
  return serve(options, listener, *arguments[1] == '@');
}
