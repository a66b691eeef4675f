// What passes between the threads: requests to a worker, responses from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace server {

// Made by the front end, freed by the worker that serves it.
struct Request {
  uint64_t sequence;
  uint32_t session;
  uint32_t resource;
  std::string text;  // the header lines, not yet parsed
};

// Made by a worker, freed by the back end.
struct Response {
  uint64_t sequence;
  uint64_t digest;
  std::vector<uint64_t> body;
};

using RequestPointer = std::unique_ptr<Request>;
using ResponsePointer = std::unique_ptr<Response>;

}  // namespace server
