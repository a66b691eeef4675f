// Rendered documents: the least recently used one makes room for a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace server {

struct Document {
  uint32_t resource;
  uint64_t digest;
  std::vector<uint64_t> words;
};

class DocumentCache {
 public:
  explicit DocumentCache(size_t capacity) : capacity_(capacity) {}

  // Valid until the next call.
  const Document& get(uint32_t resource);

 private:
  size_t capacity_;
  std::list<Document> by_use_;  // the most recently used first
  std::unordered_map<uint32_t, std::list<Document>::iterator> places_;
};

}  // namespace server
