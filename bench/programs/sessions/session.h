// A session: a header that every event reads and writes, then a scratch buffer that few events use.
#pragma once

#include <cstdint>

namespace sessions {

struct Session {
  Session* next;  // in the ready queue
  uint32_t id;
  uint32_t events;
  uint64_t state;
  uint64_t transferred;

  // The scratch buffer fills the rest of the object.
  uint64_t* scratch() { return reinterpret_cast<uint64_t*>(this + 1); }
};

constexpr long kSmallestSession = sizeof(Session) + sizeof(uint64_t);

// One function for each kind of session, each with a malloc of its own.
Session* open_guest(uint32_t id, long bytes, uint64_t state);
Session* open_member(uint32_t id, long bytes, uint64_t state);
Session* open_service(uint32_t id, long bytes, uint64_t state);

// Handles one event of the session.
inline void handle(Session& session, uint32_t scratch_words) {
  constexpr uint32_t kEventsPerScratch = 256;
  session.state = session.state * 0xd1342543de82ef95u + session.id;
  session.transferred += session.state >> 56;
  if (++session.events % kEventsPerScratch == 0) {
    session.scratch()[(session.state >> 32) % scratch_words] += session.transferred;
  }
}

}  // namespace sessions
