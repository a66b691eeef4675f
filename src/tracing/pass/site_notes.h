// The Sites of a translation unit without duplicates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tracing/format/site.h"
#include "tracing/pass/sections.h"
#include "tracing/pass/type_notes.h"

namespace halo::pass {

struct SiteNote {
  trace::SiteKind kind = trace::SiteKind::kUnknown;
  uint8_t alignment_log2 = 0;
  uint16_t size = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string file;
  std::string function;
  std::string variable;
  std::string type;
  const llvm::DICompositeType* owner = nullptr;
  uint32_t owner_offset = 0;
  uint32_t element_size = 0;
};

class SiteNotes {
 public:
  explicit SiteNotes(TypeNames& names) : types_(names, strings_) {}

  // Returns its offset in the section, in bytes.
  uint32_t add(const SiteNote& note);
  bool empty() const { return words_.empty(); }
  void emit(llvm::Module& module, llvm::GlobalVariable& stand_in) const {
    emit_sections(module, stand_in, words_, types_.words(), strings_.bytes());
  }

 private:
  Strings strings_;
  TypeNotes types_;
  std::vector<Word> words_;
  std::map<std::vector<uint64_t>, uint32_t> offsets_;
};

}  // namespace halo::pass
