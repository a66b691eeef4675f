// Turns the tokens of a scene description into a scene.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "scene/notes.h"
#include "scene/shapes.h"
#include "scene/tokens.h"

namespace scene {

struct Scene {
  ShapeList shapes;
  ShapeList templates;  // declared, for use by later descriptions
  Notes comments;
  Notes origins;
  size_t errors = 0;
};

class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Parser {
 public:
  Parser(TokenStream& tokens, Scene& scene) : tokens_(tokens), scene_(scene) {}

  // A malformed statement is counted and left out.
  void parse(uint32_t statements);

 private:
  void parse_statement();
  void parse_comment(const Token& token);
  std::unique_ptr<Shape> parse_object(const Token& token, int depth);
  std::unique_ptr<Shape> parse_composite(const Token& token, int depth);
  std::unique_ptr<Transform> parse_transform(const Token& token);
  void note_origin(const Token& token, const char* kind);

  TokenStream& tokens_;
  Scene& scene_;
};

}  // namespace scene
