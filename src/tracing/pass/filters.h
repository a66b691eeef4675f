// The filters: globs over functions, types, files and events.
#pragma once

#include <llvm/Support/Error.h>
#include <llvm/Support/GlobPattern.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "tracing/format/site.h"

namespace halo::pass {

// Accepts names that match one of the globs to include, or all if there are none, unless they match
// one of those to exclude ("!GLOB").
class Globs {
 public:
  llvm::Error add(llvm::StringRef glob);
  // Accepts if any of several names of the same thing is accepted.
  bool pass(std::initializer_list<llvm::StringRef> names) const;

 private:
  std::vector<llvm::GlobPattern> included_;
  std::vector<llvm::GlobPattern> excluded_;
};

struct Filters {
  Globs functions;  // demangled or mangled
  Globs types;      // of the class accessed, of the value, or of the allocated object
  Globs files;      // the whole path, or the file name
  Globs events;     // access, read, write, call, allocation

  bool pass_event(trace::SiteKind kind) const;
};

}  // namespace halo::pass
