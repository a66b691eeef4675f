// Sessions: they live as long as the server and remember the latest visits of a client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace server {

struct Visit {
  Visit* newer;
  uint64_t digest;  // of the document seen
  uint32_t resource;
};

class Session {
 public:
  Session() = default;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Forgets the oldest visit when there are too many.
  void remember(uint32_t resource, uint64_t digest);
  // The response's text about the visits so far.
  uint64_t summarise() const;

 private:
  static constexpr size_t kVisitsKept = 24;

  void forget_oldest();

  Visit* oldest_ = nullptr;
  Visit* newest_ = nullptr;
  size_t kept_ = 0;
};

using Sessions = std::unordered_map<uint32_t, std::unique_ptr<Session>>;

}  // namespace server
