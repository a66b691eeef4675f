// ledger: a TCP service on 127.0.0.1 that keeps bookings of accounts: `ledger PORT [MODE]`.
//
// Requests are lines: `book ACCOUNT CENTS`, `sum TIMES` (over all bookings, account by account),
// `end` (exits). Each gets a line. The bookings of an account are a list; each booking is allocated
// between objects that are not read again, so its place matters.
// MODE: `exit` ends with status 0 at SIGTERM, `ignore` ignores it, `daemon` leaves a daemon,
// `mute` opens no socket, `fail` ends with status 3 at SIGTERM.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Booking {
  int64_t cents;
  std::unique_ptr<Booking> before;
};

struct Receipt {
  std::array<char, 200> text;
};

class Ledger {
 public:
  void book(uint32_t account, int64_t cents) {
    auto made = std::make_unique<Booking>();
    made->cents = cents;
    auto receipt = std::make_unique<Receipt>();
    snprintf(receipt->text.data(), receipt->text.size(), "%u: %ld", account, cents);
    receipts_.push_back(std::move(receipt));
    auto& last = accounts_[account % accounts_.size()];
    made->before = std::move(last);
    last = std::move(made);
  }

  int64_t sum() const {
    int64_t total = 0;
    for (const auto& last : accounts_)
      for (const Booking* it = last.get(); it != nullptr; it = it->before.get()) total += it->cents;
    return total;
  }

 private:
  std::array<std::unique_ptr<Booking>, 97> accounts_;
  std::vector<std::unique_ptr<Receipt>> receipts_;
};

std::string answer(Ledger& ledger, const char* request) {
  unsigned account = 0, times = 0;
  long cents = 0;
  if (sscanf(request, "book %u %ld", &account, &cents) == 2) {
    ledger.book(account, cents);
    return "booked\n";
  }
  if (sscanf(request, "sum %u", &times) == 1) {
    int64_t total = 0;
    for (unsigned i = 0; i < times; ++i) total += ledger.sum();
    return std::to_string(total) + "\n";
  }
  if (strcmp(request, "end") == 0) _exit(0);
  return "unknown request\n";
}

// Serves one client until it closes the connection.
void serve(Ledger& ledger, int client) {
  std::string input;
  std::array<char, 1 << 16> part;
  for (ssize_t n; (n = read(client, part.data(), part.size())) > 0;) {
    input.append(part.data(), static_cast<size_t>(n));
    std::string output;
    size_t start = 0;
    for (size_t end; (end = input.find('\n', start)) != std::string::npos; start = end + 1)
      output += answer(ledger, input.substr(start, end - start).c_str());
    input.erase(0, start);
    if (write(client, output.data(), output.size()) < 0) break;
  }
  close(client);
}

int listen_at(uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 16) != 0) {
    fprintf(stderr, "ledger: port %u: %s\n", port, strerror(errno));
    exit(1);
  }
  return listener;
}

void end_well(int) { exit(0); }
void end_badly(int) { _exit(3); }

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    fprintf(stderr, "usage: ledger PORT [MODE]\n");
    return 2;
  }
  const std::string mode = count > 2 ? words[2] : "";
  signal(SIGPIPE, SIG_IGN);
  if (mode == "exit") signal(SIGTERM, end_well);
  if (mode == "fail") signal(SIGTERM, end_badly);
  if (mode == "ignore") signal(SIGTERM, SIG_IGN);
  if (mode == "daemon" && daemon(1, 1) != 0) return 1;
  while (mode == "mute") pause();
  const int listener = listen_at(static_cast<uint16_t>(atoi(words[1])));
  printf("ready\n");
  fflush(stdout);
  Ledger ledger;
  for (;;) {
    const int client = accept(listener, nullptr, nullptr);
    if (client >= 0) serve(ledger, client);
  }
}
