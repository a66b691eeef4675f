// The sessions that have an event to handle, first in, first out.
#pragma once

#include "sessions/session.h"

namespace sessions {

class ReadyQueue {
 public:
  void push(Session* session) {
    session->next = nullptr;
    if (last_ != nullptr) {
      last_->next = session;
    } else {
      first_ = session;
    }
    last_ = session;
  }

  // The queue is not empty.
  Session* pop() {
    Session* session = first_;
    first_ = session->next;
    if (first_ == nullptr) {
      last_ = nullptr;
    }
    return session;
  }

 private:
  Session* first_ = nullptr;
  Session* last_ = nullptr;
};

}  // namespace sessions
