// The three sections of site.h under construction: strings, and 32-bit words with references.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace halo::pass {

// The target of a Reference: an offset in another section.
struct Target {
  enum class Section : uint8_t { kNone, kStrings, kTypes } section = Section::kNone;
  uint32_t offset = 0;
};

class Strings {
 public:
  // Returns no target for the empty string, which readers substitute for an empty reference.
  Target add(llvm::StringRef text);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  llvm::StringMap<uint32_t> offsets_;
};

struct Word {
  uint32_t number = 0;
  Target target;

  static Word of(uint64_t number) { return {static_cast<uint32_t>(number), {}}; }
  static Word of(Target target) { return {0, target}; }
};

// Creates the variables of the sections; `sites` replaces its placeholder.
void emit_sections(llvm::Module& module, llvm::GlobalVariable& sites_stand_in,
                   const std::vector<Word>& sites, const std::vector<Word>& types,
                   const std::string& strings);

}  // namespace halo::pass
