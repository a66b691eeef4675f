// The tokens of a JSON document in order, for documents of known form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo::trace_tool {

enum class JsonKind { kObject, kArray, kString, kOther };

struct JsonToken {
  JsonKind kind;
  int size;               // members of an object, elements of an array
  std::string_view text;  // as in the document; of a string without its quotation marks
};

// Throws std::runtime_error for invalid JSON.
std::vector<JsonToken> json_tokens(std::string_view document);

// For a string token; traces contain no escapes beyond U+00FF.
std::string unescaped(std::string_view text);

// For a number token; throws std::runtime_error if it is not a whole number from 0 to 2^64 - 1.
uint64_t natural(const JsonToken& token);

}  // namespace halo::trace_tool
