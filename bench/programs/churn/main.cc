// churn: two threads handle events of sessions that end and are replaced, at sizes that change. An
// adversary: blocks are reused, so an even spread becomes a random one.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"

namespace {

struct Session {
  uint64_t state;
  uint64_t events;
};

Session* open_session(Rng& rng) {
  constexpr uint32_t kSizes = 5;
  const size_t bytes = 240 + 8 * rng_below(&rng, kSizes);
  auto* made = static_cast<Session*>(std::malloc(bytes));
  if (made == nullptr) {
    std::abort();
  }
  *made = {rng_next(&rng), 0};
  return made;
}

// Every 512th event ends its session, and opens another one in its place.
uint64_t handle_events(long sessions, long events, uint64_t seed) {
  constexpr uint32_t kEnds = 512;
  Rng rng{seed};
  std::vector<Session*> open;
  for (long i = 0; i < sessions; ++i) {
    open.push_back(open_session(rng));
  }
  uint64_t checksum = 0;
  for (long i = 0; i < events; ++i) {
    Session*& session = open[rng_below(&rng, static_cast<uint32_t>(open.size()))];
    session->state = mix64(session->state + ++session->events);
    if (session->state % kEnds == 0) {
      checksum = checksum_add(checksum, session->state);
      std::free(session);
      session = open_session(rng);
    }
  }
  for (Session* session : open) {
    checksum = checksum_add(checksum, session->events);
    std::free(session);
  }
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"sessions of a thread", 1, 10000000, 0},
                          {"events of a thread", 0, 1000000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 3);
  const long sessions = arguments[0].value, events = arguments[1].value;
  const auto seed = static_cast<uint64_t>(arguments[2].value);
  std::array<uint64_t, 2> checksums{};
  std::thread other([&] { checksums[1] = handle_events(sessions, events, seed + 1); });
  checksums[0] = handle_events(sessions, events, seed);
  other.join();
  std::printf("churn: %ld events of each thread\nchecksum %016" PRIx64 "\n", events,
              checksum_add(checksums[0], checksums[1]));
  return 0;
}
