// Look-ups, insertions and deletions.
#include "hashindex/index.h"

#include <utility>

namespace hashindex {

namespace {

// FNV-1a: the same on every machine, unlike std::hash.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return hash ^ (hash >> 29);
}

}  // namespace

std::unique_ptr<Record>& Index::link_of(std::string_view name, uint64_t hash) {
  std::unique_ptr<Record>* link = &chains_[hash & (chains_.size() - 1)];
  while (*link != nullptr && ((*link)->hash != hash || (*link)->name != name)) {
    link = &(*link)->next;
  }
  return *link;
}

bool Index::insert(std::string name, std::string text) {
  if (size_ == chains_.size()) {
    grow();
  }
  const uint64_t hash = hash_of(name);
  std::unique_ptr<Record>& link = link_of(name, hash);
  if (link != nullptr) {
    return false;
  }
  link = std::make_unique<Record>(Record{nullptr, hash, 0, std::move(name), std::move(text)});
  ++size_;
  return true;
}

Record* Index::find(std::string_view name) { return link_of(name, hash_of(name)).get(); }

bool Index::erase(std::string_view name) {
  std::unique_ptr<Record>& link = link_of(name, hash_of(name));
  if (link == nullptr) {
    return false;
  }
  link = std::move(link->next);
  --size_;
  return true;
}

void Index::grow() {
  std::vector<std::unique_ptr<Record>> old(2 * chains_.size());
  old.swap(chains_);
  for (std::unique_ptr<Record>& chain : old) {
    while (chain != nullptr) {
      std::unique_ptr<Record> record = std::move(chain);
      chain = std::move(record->next);
      std::unique_ptr<Record>& head = chains_[record->hash & (chains_.size() - 1)];
      record->next = std::move(head);
      head = std::move(record);
    }
  }
}

}  // namespace hashindex
