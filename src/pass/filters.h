// What to instrument: globs over functions, types, files and events.
#pragma once

#include <llvm/Support/Error.h>
#include <llvm/Support/GlobPattern.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "trace/site.h"

namespace halo::pass {

// Passes what one of the globs to include matches, or all where there is none, less what one of
// those to exclude ("!GLOB") matches.
class Globs {
 public:
  llvm::Error add(llvm::StringRef glob);
  // Of several names of one thing, each may be the one that is meant.
  bool pass(std::initializer_list<llvm::StringRef> names) const;

 private:
  std::vector<llvm::GlobPattern> included_;
  std::vector<llvm::GlobPattern> excluded_;
};

struct Filters {
  Globs functions;  // readable, or as the linker knows it
  Globs types;      // of the class accessed, of the value, of the object allocated
  Globs files;      // the whole path, or the name alone
  Globs events;     // access, read, write, call, allocation

  bool pass_event(trace::SiteKind kind) const;
};

}  // namespace halo::pass
