// Opens the sessions: what kind a session is of shows in its first transfer.
#include "sessions/session.h"

#include <cstdlib>
#include <cstring>

#include "common/memory.h"

namespace sessions {

namespace {

Session* start(void* memory, long bytes, uint32_t id, uint64_t state, uint64_t transferred) {
  std::memset(memory, 0, static_cast<size_t>(bytes));
  auto* session = static_cast<Session*>(memory);
  session->id = id;
  session->state = state;
  session->transferred = transferred;
  return session;
}

}  // namespace

Session* open_guest(uint32_t id, long bytes, uint64_t state) {
  return start(require_memory(std::malloc(static_cast<size_t>(bytes))), bytes, id, state, 0);
}

Session* open_member(uint32_t id, long bytes, uint64_t state) {
  return start(require_memory(std::malloc(static_cast<size_t>(bytes))), bytes, id, state, 40);
}

Session* open_service(uint32_t id, long bytes, uint64_t state) {
  return start(require_memory(std::malloc(static_cast<size_t>(bytes))), bytes, id, state, 900);
}

}  // namespace sessions
