// Prints what the decoder finds in instructions, which come in hex, one a line: their flow, the
// alignment class, and whether they only touch the stack.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "base/x86/instruction.h"

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string hex; std::getline(std::cin, hex);) {
    std::vector<uint8_t> bytes;
    for (size_t at = 0; at < hex.size(); at += 2)
      bytes.push_back(uint8_t(std::stoul(hex.substr(at, 2), nullptr, 16)));
    const halo::x86::InstructionFacts facts = halo::x86::inspect(bytes);
    std::cout << int(facts.flow) << ' ' << int(facts.alignment_class) << ' ' << facts.only_stack
              << '\n';
  }
}
