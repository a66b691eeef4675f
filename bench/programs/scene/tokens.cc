// Draws the tokens of a scene description.
#include "scene/tokens.h"

namespace scene {

Token TokenStream::make(TokenKind kind) {
  Token token{kind, ++line_, {}};
  for (float& number : token.numbers) {
    number = static_cast<float>(rng_next(&rng_) >> 40) / static_cast<float>(1 << 24);
  }
  return token;
}

Token TokenStream::next_statement() {
  const uint32_t draw = rng_below(&rng_, 1000);
  if (draw < 450) {
    return make(TokenKind::kComment);
  }
  if (draw < 550) {
    return make(TokenKind::kDeclare);
  }
  return next_object();
}

Token TokenStream::next_object() {
  const uint32_t draw = rng_below(&rng_, 1000);
  if (draw < 5) {
    return make(TokenKind::kMalformed);
  }
  if (draw < 400) {
    return make(TokenKind::kSphere);
  }
  if (draw < 700) {
    return make(TokenKind::kBox);
  }
  return make(draw < 900 ? TokenKind::kPlane : TokenKind::kComposite);
}

uint32_t TokenStream::next_count(uint32_t low, uint32_t high) {
  return low + rng_below(&rng_, high - low + 1);
}

}  // namespace scene
