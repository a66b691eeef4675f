// Which mapping each address has, as the trace lists them and its modules add to them.
#include "tracing/tool/stored_code.h"

#include <gtest/gtest.h>

namespace halo::trace_tool {
namespace {

// `path+address in the file`, or nothing.
std::string place_of(const StoredCode& code, uint64_t address) {
  std::string found;
  code.for_each([&](const record::CodeMapping& mapping) {
    if (mapping.range.contains(address))
      found +=
          mapping.path + "+" + std::to_string(address - mapping.range.begin + mapping.first_vaddr);
  });
  return found;
}

TEST(StoredCode, HasSitesBesideTheirCode) {
  StoredCode code;
  code.add_maps(R"([[8192,12288,4096,"/a","aa"]])");
  code.add_sites("/a", 16384, 16484);
  EXPECT_EQ(place_of(code, 8200), "/a+4104");
  EXPECT_EQ(place_of(code, 16390), "/a+12294");
  EXPECT_EQ(place_of(code, 16484), "");
}

TEST(StoredCode, SitesInTheMappingOfTheCodeDoNotDisplaceIt) {
  StoredCode code;
  code.add_maps(R"([[8192,65536,0,"/a","aa"]])");
  code.add_sites("/a", 16384, 16484);
  EXPECT_EQ(place_of(code, 8200), "/a+8");
  EXPECT_EQ(place_of(code, 16390), "/a+8198");
}

TEST(StoredCode, SitesOfAnUnloadedModuleDoNotDisplaceItsSuccessor) {
  StoredCode code;
  code.add_maps(R"([[8192,12288,0,"/a","aa"]])");
  code.add_sites("/a", 16384, 16484);
  code.add_maps(R"([[16384,20480,0,"/b","bb"]])");
  code.add_sites("/a", 16384, 16484);
  EXPECT_EQ(place_of(code, 16390), "/b+6");
  EXPECT_EQ(place_of(code, 8200), "/a+8") << "for earlier events";
}

}  // namespace
}  // namespace halo::trace_tool
