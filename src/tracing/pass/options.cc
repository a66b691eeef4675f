#include "tracing/pass/options.h"

#include <llvm/ADT/StringExtras.h>

namespace halo::pass {
namespace {

llvm::Error wrong(llvm::StringRef word, const char* why) {
  return llvm::createStringError("%s: '%s' %s", kOptionsVariable, word.str().c_str(), why);
}

bool is_event(llvm::StringRef glob) {
  glob.consume_front("!");
  auto pattern = llvm::GlobPattern::create(glob);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    return false;
  }
  for (const char* event : {"access", "read", "write", "call", "allocation"})
    if (pattern->match(event)) return true;
  return false;
}

Globs* globs_of(Filters& filters, llvm::StringRef key) {
  if (key == "function") return &filters.functions;
  if (key == "type") return &filters.types;
  if (key == "file") return &filters.files;
  return key == "event" ? &filters.events : nullptr;
}

llvm::Error apply(Options& options, llvm::StringRef word) {
  const auto [key, value] = word.split('=');
  if (value.empty()) return wrong(word, "is not of the form KEY=VALUE");
  if (key == "allocators") return options.allocators.read(value);
  if (key == "hints") return options.hints.read(value);
  Globs* globs = globs_of(options.filters, key);
  if (!globs) return wrong(word, "is none of function=, type=, file=, event=, allocators=, hints=");
  if (key == "event" && !is_event(value))
    return wrong(word, "names none of access, read, write, call, allocation");
  if (llvm::Error error = globs->add(value)) {
    llvm::consumeError(std::move(error));
    return wrong(word, "is not a glob");
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<Options> parse_options(llvm::StringRef text) {
  Options options;
  for (llvm::StringRef rest = text.trim(); !rest.empty();) {
    const auto [word, more] = llvm::getToken(rest);
    if (llvm::Error error = apply(options, word)) return error;
    rest = more.trim();
  }
  return options;
}

}  // namespace halo::pass
