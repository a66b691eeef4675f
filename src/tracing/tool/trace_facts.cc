// Extracts the facts from the JSON.
#include "tracing/tool/trace_facts.h"

#include "tracing/tool/json_tokens.h"

namespace halo::trace_tool {

TraceFacts read_facts(std::string_view json) {
  TraceFacts facts;
  const std::vector<JsonToken> tokens = json_tokens(json);
  for (size_t at = 1; at + 1 < tokens.size(); ++at) {
    const JsonToken& value = tokens[at + 1];
    if (tokens[at].kind != JsonKind::kString || tokens[at].size != 1) continue;  // not a key
    if (tokens[at].text == "pid") facts.pid = int(natural(value));
    if (tokens[at].text == "program") facts.program = unescaped(value.text);
    if (tokens[at].text == "build_id") facts.build_id = unescaped(value.text);
  }
  return facts;
}

}  // namespace halo::trace_tool
