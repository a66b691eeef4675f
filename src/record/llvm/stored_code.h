// Where the traced process had its code, as its trace says.
#pragma once

#include <string_view>
#include <vector>

#include "record/llvm/site_table.h"
#include "record/module_table.h"

namespace halo::record::llvm {

class StoredCode {
 public:
  // The trace's list of mappings (docs/trace-format.md). What it says comes over what was said
  // before; what it no longer lists is kept, for events from before that are still to come. Throws
  // std::runtime_error where it is no such list.
  void add_maps(std::string_view json);

  // Makes a site's address a place in the module's file, as those of code are.
  void add_sites(const SiteTable::Module& module);

  void for_each(const CodeVisitor& visit) const;

 private:
  void add(CodeMapping mapping);

  std::vector<CodeMapping> mappings_;
};

}  // namespace halo::record::llvm
