// The facts about the traced process in a trace's first frame.
#pragma once

#include <string>
#include <string_view>

namespace halo::trace_tool {

struct TraceFacts {
  int pid = 0;
  std::string program;
  std::string build_id;
};

// From its JSON (docs/trace-format.md); missing facts are as in TraceFacts{}.
TraceFacts read_facts(std::string_view json);

}  // namespace halo::trace_tool
