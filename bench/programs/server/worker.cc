// A worker: serves the requests of its share of the sessions.
#include "server/worker.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/checksum.h"

namespace server {

namespace {

using Headers = std::map<std::string, std::string>;

// Lines of "name: value".
Headers parse_headers(std::string_view text) {
  constexpr std::string_view kSeparator = ": ";
  Headers headers;
  while (!text.empty()) {
    const size_t line_end = text.find('\n');
    const std::string_view line = text.substr(0, line_end);
    const size_t name_end = line.find(kSeparator);
    headers.emplace(line.substr(0, name_end), line.substr(name_end + kSeparator.size()));
    text.remove_prefix(line_end + 1);
  }
  return headers;
}

uint64_t digest_of(const Headers& headers) {
  uint64_t digest = headers.size();
  for (const auto& [name, value] : headers) {
    for (const char character : value) {
      digest = checksum_add(digest, static_cast<unsigned char>(character));
    }
  }
  return digest;
}

}  // namespace

void Worker::run() {
  for (auto batch = requests_.take_all(); !batch.empty(); batch = requests_.take_all()) {
    for (RequestPointer& request : batch) {
      responses_.push(serve(*request));
      request.reset();
    }
  }
}

ResponsePointer Worker::serve(const Request& request) {
  const Headers headers = parse_headers(request.text);
  const Document& document = documents_.get(request.resource);
  std::unique_ptr<Session>& session = sessions_[request.session];
  if (session == nullptr) {
    session = std::make_unique<Session>();
  }
  session->remember(request.resource, document.digest);

  auto response = std::make_unique<Response>();
  response->sequence = request.sequence;
  response->digest = checksum_add(session->summarise(), digest_of(headers));
  response->body = document.words;
  return response;
}

}  // namespace server
