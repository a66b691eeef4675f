// An index of records by name: a hash table of chains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hashindex {

struct Record {
  std::unique_ptr<Record> next;  // in the chain
  uint64_t hash;
  uint64_t uses;
  std::string name;
  std::string text;
};

class Index {
 public:
  // Another record of that name, if there is one, stays and is not changed.
  bool insert(std::string name, std::string text);
  Record* find(std::string_view name);
  bool erase(std::string_view name);
  size_t size() const { return size_; }

  template <typename Visitor>
  void for_each(Visitor visitor) const {
    for (const auto& chain : chains_) {
      for (const Record* record = chain.get(); record != nullptr; record = record->next.get()) {
        visitor(*record);
      }
    }
  }

 private:
  // The link that holds the record of that name, or the end of its chain.
  std::unique_ptr<Record>& link_of(std::string_view name, uint64_t hash);
  // Twice as many chains, as soon as they hold one record each on average.
  void grow();

  std::vector<std::unique_ptr<Record>> chains_ = std::vector<std::unique_ptr<Record>>(16);
  size_t size_ = 0;
};

}  // namespace hashindex
