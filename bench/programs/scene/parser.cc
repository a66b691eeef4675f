// A recursive descent parser for scene descriptions.
#include "scene/parser.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace scene {

namespace {

// Composites may hold composites, but the description does not nest them without end.
constexpr int kMaximumDepth = 4;

Vector vector_from(const Token& token, size_t first) {
  return {token.numbers[first], token.numbers[first + 1], token.numbers[first + 2]};
}

uint32_t material_of(const Token& token) {
  constexpr float kMaterials = 64;
  return static_cast<uint32_t>(token.numbers[7] * kMaterials);
}

}  // namespace

void Parser::parse(uint32_t statements) {
  for (uint32_t i = 0; i < statements; ++i) {
    try {
      parse_statement();
    } catch (const ParseError&) {
      ++scene_.errors;
    }
  }
}

void Parser::parse_statement() {
  const Token token = tokens_.next_statement();
  switch (token.kind) {
    case TokenKind::kComment:
      parse_comment(token);
      break;
    case TokenKind::kDeclare:
      scene_.templates.push(parse_object(tokens_.next_object(), 0));
      break;
    default:
      scene_.shapes.push(parse_object(token, 0));
  }
}

void Parser::parse_comment(const Token& token) {
  constexpr std::string_view kText = "// to do: check these figures at the site";
  scene_.comments.add(token.line, kText.substr(0, tokens_.next_count(17, 32)));
}

std::unique_ptr<Shape> Parser::parse_object(const Token& token, int depth) {
  switch (token.kind) {
    case TokenKind::kSphere:
      note_origin(token, "sphere");
      return create_sphere(parse_transform(token), material_of(token), 0.1f + token.numbers[7]);
    case TokenKind::kBox:
      note_origin(token, "box");
      return create_box(parse_transform(token), material_of(token), vector_from(token, 7));
    case TokenKind::kPlane:
      note_origin(token, "plane");
      return create_plane(parse_transform(token), material_of(token), vector_from(token, 7),
                          token.numbers[6]);
    case TokenKind::kComposite:
      if (depth < kMaximumDepth) {
        note_origin(token, "CSG");
        return parse_composite(token, depth);
      }
      throw ParseError("line " + std::to_string(token.line) + ": composites nest too deep");
    default:
      throw ParseError("line " + std::to_string(token.line) + ": expected an object");
  }
}

std::unique_ptr<Shape> Parser::parse_composite(const Token& token, int depth) {
  const auto operation = static_cast<Operation>(token.line % 3);
  auto composite = create_composite(parse_transform(token), material_of(token), operation);
  for (uint32_t parts = tokens_.next_count(2, 5); parts > 0; --parts) {
    composite->add(parse_object(tokens_.next_object(), depth + 1));
  }
  return composite;
}

std::unique_ptr<Transform> Parser::parse_transform(const Token& token) {
  Vector scale = vector_from(token, 0);
  scale = {0.5f + scale.x, 0.5f + scale.y, 0.5f + scale.z};
  return create_transform(scale, vector_from(token, 3), token.numbers[6]);
}

void Parser::note_origin(const Token& token, const char* kind) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%s at line %u of scene", kind,
                                   static_cast<unsigned>(token.line));
  const size_t fits = std::min(static_cast<size_t>(length), text.size() - 1);
  scene_.origins.add(token.line, {text.data(), fits});
}

}  // namespace scene
