// A JSON document as its tokens, in order, for documents whose form is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo::record::llvm {

enum class JsonKind { kObject, kArray, kString, kOther };

struct JsonToken {
  JsonKind kind;
  int size;               // members of an object, elements of an array
  std::string_view text;  // as in the document; of a string without its quotation marks
};

// Throws std::runtime_error where it is no JSON.
std::vector<JsonToken> json_tokens(std::string_view document);

// Of a string token; escaped characters beyond U+00FF do not occur in what traces say.
std::string unescaped(std::string_view text);

// Of a number token; throws std::runtime_error where it is none from 0 to 2^64 - 1.
uint64_t natural(const JsonToken& token);

}  // namespace halo::record::llvm
