// Reads the list of mappings.
#include "record/llvm/stored_code.h"

#include <algorithm>
#include <stdexcept>

#include "record/llvm/json_tokens.h"

namespace halo::record::llvm {

namespace {

constexpr size_t kTokens = 6;  // of a mapping: the array and its five elements

bool overlap(const AddressRange& a, const AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

void StoredCode::add_maps(std::string_view json) {
  const std::vector<JsonToken> tokens = json_tokens(json);
  for (size_t at = 1; at < tokens.size(); at += kTokens) {
    if (tokens[at].kind != JsonKind::kArray || tokens[at].size != 5 || at + kTokens > tokens.size())
      throw std::runtime_error("the trace's list of mappings is damaged");
    add({.range = {natural(tokens[at + 1]), natural(tokens[at + 2])},
         .first_vaddr = natural(tokens[at + 3]),
         .path = unescaped(tokens[at + 4].text),
         .build_id = unescaped(tokens[at + 5].text)});
  }
}

void StoredCode::add(CodeMapping mapping) {
  std::erase_if(mappings_,
                [&](const CodeMapping& old) { return overlap(old.range, mapping.range); });
  mappings_.push_back(std::move(mapping));
}

void StoredCode::add_sites(const SiteTable::Module& module) {
  const auto code =
      std::find_if(mappings_.begin(), mappings_.end(),
                   [&](const CodeMapping& mapping) { return mapping.path == module.path; });
  if (code == mappings_.end() || module.sites == 0) return;
  CodeMapping sites = *code;
  const uint64_t bias = code->range.begin - code->first_vaddr;
  sites.range = {module.sites_address, module.sites_address + module.sites * sizeof(trace::Site)};
  sites.first_vaddr = module.sites_address - bias;
  add(std::move(sites));
}

void StoredCode::for_each(const CodeVisitor& visit) const {
  for (const CodeMapping& mapping : mappings_) visit(mapping);
}

}  // namespace halo::record::llvm
