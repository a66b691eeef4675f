// The file of hints: by which field values the objects of each type are placed (docs/hints.md).
//
//   halo-hints 1
//   type CONTEXT NAME       one or more: a type, as the trace names it; types of one context share
//   memory key KIND WIDTH OFFSET   a value of the new object: its bytes from the start, or OFFSET
//   OFFSET:
//                           those of a pointer, and of the value in the object that it points to
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/Error.h>

#include <optional>

namespace halo::pass {

struct KeyRule {
  unsigned kind;   // tidy_kind_t
  unsigned bytes;  // of the value
  double width;    // of an interval
  uint64_t offset;
  std::optional<uint32_t> behind;  // the pointer at `offset`: the value's offset there

  unsigned stored_bytes() const { return behind ? sizeof(uint64_t) : bytes; }
};

struct TypeRule {
  unsigned context;
  llvm::SmallVector<KeyRule, 3> keys;  // one or more
};

class HintRules {
 public:
  llvm::Error read(llvm::StringRef path);
  // Equal for equal files.
  uint64_t fingerprint() const { return fingerprint_; }
  bool empty() const { return types_.empty(); }
  // Null if there is none.
  const TypeRule* find(llvm::StringRef type) const;

 private:
  llvm::StringMap<TypeRule> types_;
  uint64_t fingerprint_ = 0;
};

}  // namespace halo::pass
