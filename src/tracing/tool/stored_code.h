// The code mappings of the traced process, as its trace lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recorder/contexts/code/module_table.h"

namespace halo::trace_tool {

class StoredCode {
 public:
  // Adds the trace's list of mappings (docs/trace-format.md). New mappings override earlier ones;
  // unlisted ones are kept for earlier events that are still to come. Throws std::runtime_error if
  // the list is malformed.
  void add_maps(std::string_view json);

  // Translates the addresses of a module's sites to places in its file, like those of code. Does
  // nothing unless the last list has the module's code, and nothing else at these addresses.
  void add_sites(const std::string& path, uint64_t begin, uint64_t end);

  void for_each(const record::CodeVisitor& visit) const;

 private:
  void add(record::CodeMapping mapping);

  std::vector<record::CodeMapping> mappings_;
  std::vector<record::CodeMapping> listed_;  // by the last list
};

}  // namespace halo::trace_tool
