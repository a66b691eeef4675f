// Rendered documents: the least recently used one makes room for a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace server {

struct Document {
  std::uint32_t resource;
  std::uint64_t digest;
  std::vector<std::uint64_t> words;
};

class DocumentCache {
 public:
  explicit DocumentCache(std::size_t capacity) : capacity_(capacity) {}

  // Valid until the next call.
  const Document& get(std::uint32_t resource);

 private:
  std::size_t capacity_;
  std::list<Document> by_use_;  // the most recently used first
  std::unordered_map<std::uint32_t, std::list<Document>::iterator> places_;
};

}  // namespace server
