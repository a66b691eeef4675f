// Parses JSON with jsmn.
#define JSMN_STATIC
#include "tracing/tool/json_tokens.h"

#include <jsmn.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace halo::trace_tool {

namespace {

JsonKind kind_of(jsmntype_t type) {
  switch (type) {
    case JSMN_OBJECT:
      return JsonKind::kObject;
    case JSMN_ARRAY:
      return JsonKind::kArray;
    case JSMN_STRING:
      return JsonKind::kString;
    default:
      return JsonKind::kOther;
  }
}

}  // namespace

std::vector<JsonToken> json_tokens(std::string_view document) {
  jsmn_parser parser;
  jsmn_init(&parser);
  const int count = jsmn_parse(&parser, document.data(), document.size(), nullptr, 0);
  if (count < 1) throw std::runtime_error("a part of the trace is not JSON");
  std::vector<jsmntok_t> parsed(static_cast<size_t>(count));
  jsmn_init(&parser);
  jsmn_parse(&parser, document.data(), document.size(), parsed.data(), unsigned(count));
  std::vector<JsonToken> tokens;
  for (const jsmntok_t& token : parsed) {
    tokens.push_back({kind_of(token.type), token.size,
                      document.substr(size_t(token.start), size_t(token.end - token.start))});
  }
  return tokens;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      plain += text[at];
    } else if (text[++at] == 'u') {
      unsigned code = '?';
      const char* digits = text.data() + at + 1;
      std::from_chars(digits, text.data() + std::min(at + 5, text.size()), code, 16);
      plain += char(code);
      at += 4;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

uint64_t natural(const JsonToken& token) {
  uint64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (token.kind != JsonKind::kOther || error != std::errc{} || stop != end)
    throw std::runtime_error("a part of the trace is malformed: a number is expected");
  return value;
}

}  // namespace halo::trace_tool
