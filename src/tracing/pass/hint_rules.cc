#include "tracing/pass/hint_rules.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/LineIterator.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/xxhash.h>

#include <cmath>

#include "tidy/include/halo/tidy_rules.h"

namespace halo::pass {
namespace {

constexpr unsigned kMaxContexts = 64;
constexpr uint64_t kMaxOffset = 65536 - 8;  // objects of Tidy are not larger

struct Kind {
  const char* name;
  unsigned bytes;
};
constexpr Kind kKinds[] = {{"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2}, {"i32", 4},
                           {"u32", 4}, {"i64", 8}, {"u64", 8}, {"f32", 4}, {"f64", 8}};
static_assert(std::size(kKinds) == TIDY_KINDS);

bool take_number(llvm::StringRef& text, uint64_t most, uint64_t& number) {
  const auto [word, rest] = llvm::getToken(text);
  text = rest;
  return !word.getAsInteger(10, number) && number <= most;
}

bool parse_type(llvm::StringRef text, llvm::StringRef& name, TypeRule& rule) {
  uint64_t context = 0;
  if (!take_number(text, kMaxContexts - 1, context)) return false;
  rule.context = static_cast<unsigned>(context);
  name = text.trim();
  return !name.empty();
}

bool parse_key(llvm::StringRef text, KeyRule& key) {
  const auto [kind, behind_kind] = llvm::getToken(text);
  const auto* const found =
      llvm::find_if(kKinds, [name = kind](const Kind& one) { return name == one.name; });
  const auto [width, offsets] = llvm::getToken(behind_kind);
  if (found == std::end(kKinds) || width.getAsDouble(key.width)) return false;
  if (!std::isfinite(key.width) || key.width <= 0) return false;
  key.kind = static_cast<unsigned>(found - kKinds);
  key.bytes = found->bytes;
  llvm::StringRef rest = offsets;
  if (!take_number(rest, kMaxOffset, key.offset)) return false;
  if (rest.trim().empty()) return true;
  uint64_t behind = 0;
  if (!take_number(rest, kMaxOffset, behind)) return false;
  key.behind = static_cast<uint32_t>(behind);
  return rest.trim().empty();
}

}  // namespace

llvm::Error HintRules::read(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "the hints %s cannot be read: %s",
                                   path.str().c_str(), buffer.getError().message().c_str());
  fingerprint_ = llvm::xxHash64((*buffer)->getBuffer());
  llvm::line_iterator line(**buffer);
  int number = 1;  // of the line, or of the last one
  const auto wrong = [&](const char* why) {
    return llvm::createStringError("%s:%d %s", path.str().c_str(), number, why);
  };
  if (line.is_at_end() || line->trim() != "halo-hints 1")
    return wrong("is not a file of hints of this version; make one with: halo study hints -o FILE");
  TypeRule* type = nullptr;
  for (++line; !line.is_at_end(); ++line) {
    number = static_cast<int>(line.line_number());
    const auto [word, rest] = llvm::getToken(*line);
    if (word == "type") {
      llvm::StringRef name;
      TypeRule rule{};
      if (type && type->keys.empty()) return wrong("follows a type without a key");
      if (!parse_type(rest, name, rule))
        return wrong("is malformed: type CONTEXT NAME, with a context from 0 to 63");
      const auto [at, is_new] = types_.try_emplace(name, rule);
      if (!is_new) return wrong("has a type for the second time");
      type = &at->second;
    } else {
      KeyRule key{};
      if (word != "key" || !type || type->keys.size() == TIDY_MAX_DIMENSIONS ||
          !parse_key(rest, key))
        return wrong("is malformed: key KIND WIDTH OFFSET [OFFSET], up to four behind a type");
      type->keys.push_back(key);
    }
  }
  if (!type) return wrong("ends a file without a type");
  if (type->keys.empty()) return wrong("has a type without a key");
  llvm::SmallDenseMap<unsigned, size_t> keys;  // of each context
  for (const auto& one : types_) {
    const TypeRule& rule = one.getValue();
    if (keys.try_emplace(rule.context, rule.keys.size()).first->second != rule.keys.size())
      return wrong("ends a file with types of one context that have different numbers of keys");
  }
  return llvm::Error::success();
}

const TypeRule* HintRules::find(llvm::StringRef type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

}  // namespace halo::pass
