// JSON strings for any file names that the system allows.
#include "tracing/library/text.h"

#include <gtest/gtest.h>

#include <string>

namespace halo::logging {
namespace {

std::string quoted(std::string_view text) {
  Text result;
  result.quote(text);
  return std::string(result.view());
}

TEST(Text, QuotesAsJsonRequires) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("a\"b\\c\n"), R"("a\"b\\c\u000a")");
}

TEST(Text, KeepsUtf8AndEscapesOtherBytes) {
  EXPECT_EQ(quoted("b\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\"b\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_EQ(quoted("\xFF"), R"("\u00ff")");
  EXPECT_EQ(quoted("\xC0\x80"), R"("\u00c0\u0080")");            // overlong
  EXPECT_EQ(quoted("\xED\xA0\x80"), R"("\u00ed\u00a0\u0080")");  // half of a pair
  EXPECT_EQ(quoted("\xE2\x82"), R"("\u00e2\u0082")");            // cut short
}

TEST(Text, GrowsAsNeeded) {
  Text text;
  for (int round = 0; round < 100000; ++round) text.add_number(uint64_t(round % 10));
  EXPECT_EQ(text.view().size(), 100000u);
  EXPECT_EQ(text.view().substr(99990), "0123456789");
}

TEST(Text, WritesNumbers) {
  Text text;
  text.add_number(~uint64_t{0});
  text.add(" ");
  text.add_hex(0xdeadbeef);
  EXPECT_EQ(text.view(), "18446744073709551615 0xdeadbeef");
}

}  // namespace
}  // namespace halo::logging
