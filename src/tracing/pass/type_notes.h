// The TypeNotes of the classes that sites refer to, and of the classes nested in them.
#pragma once

#include <vector>

#include "tracing/pass/sections.h"
#include "tracing/pass/type_names.h"

namespace halo::pass {

// As in the trace: an absolute path, or the path passed to the compiler with its directory in
// front.
std::string path_of(const llvm::DIFile* file);

class TypeNotes {
 public:
  TypeNotes(TypeNames& names, Strings& strings) : names_(names), strings_(strings) {}

  Target add(const llvm::DICompositeType* type);
  const std::vector<Word>& words() const { return words_; }

 private:
  void write(const llvm::DICompositeType* type);

  TypeNames& names_;
  Strings& strings_;
  std::vector<Word> words_;
  llvm::DenseMap<const llvm::DICompositeType*, uint32_t> offsets_;
};

}  // namespace halo::pass
