// Words keep their fields.
#include "recorder/channel/word.h"

#include <gtest/gtest.h>

namespace halo::channel {
namespace {

TEST(Word, AMessageHasItsKindAndPayload) {
  const Word word = Word::make(WordKind::kAlloc, 0x7FFF12345678);
  EXPECT_EQ(word.kind(), WordKind::kAlloc);
  EXPECT_EQ(word.payload(), 0x7FFF12345678u);
}

TEST(Word, AnAccessHasItsAddressSizeAndAlignment) {
  for (uint32_t size = 0; size < 7; ++size) {
    for (uint32_t alignment = 0; alignment < 4; ++alignment) {
      for (const bool store : {false, true}) {
        const Word word = Word::access(0x7FFFFFFFFFF8, Word::access_tag(size, store, alignment));
        EXPECT_EQ(word.kind(), WordKind::kAccess);
        EXPECT_EQ(word.payload(), 0x7FFFFFFFFFF8u);
        EXPECT_EQ(word.size_log2(), size);
        EXPECT_EQ(word.alignment_class(), alignment);
        EXPECT_EQ(word.store(), store);
      }
    }
  }
}

// An address that no program can have, such as a wild pointer's, must not change the kind.
TEST(Word, AnInvalidAddressChangesNoKind) {
  const Word word = Word::access(0xDEAD000000001234, Word::access_tag(3, false, 0));
  EXPECT_EQ(word.kind(), WordKind::kAccess);
  EXPECT_EQ(word.payload(), 0x1234u);
}

}  // namespace
}  // namespace halo::channel
