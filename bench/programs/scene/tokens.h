// The tokens of a scene description, as a stream that depends on its seed only.
#pragma once

#include <array>
#include <cstdint>

#include "common/rng.h"

namespace scene {

enum class TokenKind : uint8_t {
  kSphere,
  kBox,
  kPlane,
  kComposite,
  kDeclare,  // the next object is a template: kept, not part of the scene
  kComment,
  kMalformed,
};

struct Token {
  TokenKind kind;
  uint32_t line;
  std::array<float, 10> numbers;
};

class TokenStream {
 public:
  explicit TokenStream(uint64_t seed) : rng_{seed} {}

  // What a statement starts with.
  Token next_statement();
  // What stands where an object must follow.
  Token next_object();
  // A small number, such as how many parts a composite has.
  uint32_t next_count(uint32_t low, uint32_t high);

 private:
  Token make(TokenKind kind);

  Rng rng_;
  uint32_t line_ = 0;
};

}  // namespace scene
