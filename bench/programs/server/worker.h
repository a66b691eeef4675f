// A worker: serves the requests of its share of the sessions.
#pragma once

#include <cstddef>

#include "server/document_cache.h"
#include "server/messages.h"
#include "server/queue.h"
#include "server/session.h"

namespace server {

class Worker {
 public:
  Worker(Queue<ResponsePointer>& responses, size_t cached_documents)
      : responses_(responses), documents_(cached_documents) {}

  Queue<RequestPointer>& requests() { return requests_; }

  // Serves until the queue of requests is closed.
  void run();

 private:
  ResponsePointer serve(const Request& request);

  Queue<RequestPointer> requests_;
  Queue<ResponsePointer>& responses_;
  DocumentCache documents_;
  Sessions sessions_;
};

}  // namespace server
