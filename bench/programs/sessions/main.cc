// sessions: an event loop over sessions whose size is a power of two, or 16 bytes less.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"
#include "sessions/ready_queue.h"
#include "sessions/session.h"

namespace {

using sessions::Session;

Session* open_session(Rng& rng, uint32_t id, long bytes) {
  const uint64_t state = rng_next(&rng);
  switch (rng_below(&rng, 8)) {
    case 0:
      return sessions::open_service(id, bytes, state);
    case 1:
    case 2:
    case 3:
      return sessions::open_member(id, bytes, state);
    default:
      return sessions::open_guest(id, bytes, state);
  }
}

std::vector<Session*> open_sessions(Rng& rng, uint32_t count, long bytes) {
  std::vector<Session*> opened;
  for (uint32_t id = 0; id < count; ++id) {
    opened.push_back(open_session(rng, id, bytes));
  }
  return opened;
}

// The first events come in random order.
sessions::ReadyQueue make_ready(Rng& rng, std::vector<Session*> waiting) {
  sessions::ReadyQueue ready;
  for (auto left = static_cast<uint32_t>(waiting.size()); left > 0; --left) {
    std::swap(waiting[left - 1], waiting[rng_below(&rng, left)]);
    ready.push(waiting[left - 1]);
  }
  return ready;
}

// A session that stalls waits until another one stalls, so the order changes over time.
void run_events(sessions::ReadyQueue& ready, long events, uint32_t scratch_words) {
  constexpr uint64_t kStalls = 0x3f;
  Session* stalled = nullptr;
  for (long i = 0; i < events; ++i) {
    Session* session = ready.pop();
    sessions::handle(*session, scratch_words);
    if (((session->state >> 40) & kStalls) == 0) {
      std::swap(session, stalled);
    }
    if (session != nullptr) {
      ready.push(session);
    }
  }
}

uint64_t close_sessions(const std::vector<Session*>& opened, uint32_t scratch_words) {
  uint64_t checksum = 0;
  for (Session* session : opened) {
    checksum = checksum_add(checksum, session->state);
    checksum = checksum_add(checksum, session->transferred + session->events);
    for (uint32_t i = 0; i < scratch_words; ++i) {
      checksum = checksum_add(checksum, session->scratch()[i]);
    }
    std::free(session);
  }
  return checksum;
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"sessions", 2, 10000000, 0},
                          {"bytes of a session", sessions::kSmallestSession, 1 << 20, 0},
                          {"events", 0, 1000000000000, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 4);
  const auto count = static_cast<uint32_t>(arguments[0].value);
  const long bytes = arguments[1].value;
  const long events = arguments[2].value;
  const auto scratch_words =
      static_cast<uint32_t>((static_cast<size_t>(bytes) - sizeof(Session)) / sizeof(uint64_t));

  Rng rng{static_cast<uint64_t>(arguments[3].value)};
  const std::vector<Session*> opened = open_sessions(rng, count, bytes);
  sessions::ReadyQueue ready = make_ready(rng, opened);
  run_events(ready, events, scratch_words);
  const uint64_t checksum = close_sessions(opened, scratch_words);
  std::printf("sessions: %ld events of %" PRIu32 " sessions\nchecksum %016" PRIx64 "\n", events,
              count, checksum);
  return 0;
}
