// A log of the tree's changes: written at every change, read only at the end.
#pragma once

#include <cstdint>

namespace rbtree {

class AuditLog {
 public:
  enum class Action : uint32_t { kInserted, kErased, kRefused };

  struct Entry {
    Entry* previous;
    uint64_t sequence;
    float payload;
    Action action;
  };

  AuditLog() = default;
  ~AuditLog() {
    while (last_ != nullptr) {
      const Entry* entry = last_;
      last_ = entry->previous;
      delete entry;
    }
  }
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void record(Action action, float payload) {
    last_ = new Entry{last_, sequence_++, payload, action};
  }

  const Entry* last() const { return last_; }

 private:
  Entry* last_ = nullptr;
  uint64_t sequence_ = 0;
};

}  // namespace rbtree
