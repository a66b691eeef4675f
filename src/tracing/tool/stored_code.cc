// Reads the list of mappings.
#include "tracing/tool/stored_code.h"

#include <algorithm>
#include <stdexcept>

#include "tracing/tool/json_tokens.h"

namespace halo::trace_tool {

namespace {

constexpr size_t kTokens = 6;  // of a mapping: the array and its five elements

}  // namespace

void StoredCode::add_maps(std::string_view json) {
  const std::vector<JsonToken> tokens = json_tokens(json);
  listed_.clear();
  for (size_t at = 1; at < tokens.size(); at += kTokens) {
    if (tokens[at].kind != JsonKind::kArray || tokens[at].size != 5 || at + kTokens > tokens.size())
      throw std::runtime_error("the trace's list of mappings is damaged");
    listed_.push_back({.range = {natural(tokens[at + 1]), natural(tokens[at + 2])},
                       .first_vaddr = natural(tokens[at + 3]),
                       .path = unescaped(tokens[at + 4].text),
                       .build_id = unescaped(tokens[at + 5].text)});
    add(listed_.back());
  }
}

void StoredCode::add(record::CodeMapping mapping) {
  std::erase_if(mappings_,
                [&](const record::CodeMapping& old) { return old.range.overlaps(mapping.range); });
  mappings_.push_back(std::move(mapping));
}

void StoredCode::add_sites(const std::string& path, uint64_t begin, uint64_t end) {
  const AddressRange range{begin, end};
  const auto code = std::ranges::find(listed_, path, &record::CodeMapping::path);
  const auto overlaps = [&](const record::CodeMapping& it) { return it.range.overlaps(range); };
  if (begin == end || code == listed_.end() || std::ranges::any_of(listed_, overlaps)) return;
  record::CodeMapping sites = *code;
  sites.first_vaddr = begin - (code->range.begin - code->first_vaddr);
  sites.range = range;
  add(std::move(sites));
}

void StoredCode::for_each(const record::CodeVisitor& visit) const {
  for (const record::CodeMapping& mapping : mappings_) visit(mapping);
}

}  // namespace halo::trace_tool
