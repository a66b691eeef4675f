// What the first frame of a trace says of the traced process.
#pragma once

#include <string>
#include <string_view>

namespace halo::record::llvm {

struct TraceFacts {
  int pid = 0;
  std::string program;
  std::string build_id;
};

// Of its JSON (docs/trace-format.md); what is not there is as in TraceFacts{}.
TraceFacts read_facts(std::string_view json);

}  // namespace halo::record::llvm
