// The list of outputs: a new one needs a file and one line here.
#include <cstring>

#include "tracing/library/output/output.h"

namespace halo::logging {

namespace {

struct Choice {
  const char* name;
  Output* (*make)(const char* argument);
};

constexpr Choice kChoices[] = {
    {"file", make_file_output}, {"text", make_text_output}, {"socket", make_socket_output},
    {"pipe", make_pipe_output}, {"none", make_none_output},
};

}  // namespace

Output* choose_output(const char* value) {
  for (const Choice& choice : kChoices) {
    const size_t length = strlen(choice.name);
    if (strncmp(value, choice.name, length) != 0) continue;
    if (value[length] == ':') return choice.make(value + length + 1);
    if (value[length] == '\0') return choice.make("");
  }
  return nullptr;
}

}  // namespace halo::logging
