// The arguments of the processes that write parts.
#include "recorder/contexts/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace halo::record {
namespace {

bool parse(std::vector<std::string> arguments, Options& options) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return parse_options(pointers, options);
}

TEST(Options, OutIsMadeAbsoluteImmediately) {
  Options options;
  ASSERT_TRUE(parse({"out=some/part"}, options));
  EXPECT_EQ(options.out, (std::filesystem::current_path() / "some/part").string());
  ASSERT_TRUE(parse({"out=/tmp/part"}, options));
  EXPECT_EQ(options.out, "/tmp/part");
}

TEST(Options, AMachineIsThisOneOrAFiles) {
  Options options;
  ASSERT_TRUE(parse({"out=/x"}, options));
  EXPECT_FALSE(options.parameters.of<sinks::SimulatorSink>().machine.has_value());
  ASSERT_TRUE(parse({"out=/x", "machine=this"}, options));
  EXPECT_EQ(options.parameters.of<sinks::SimulatorSink>().machine->caches.front().name, "L1D");
  const std::string path = testing::TempDir() + "machine." + std::to_string(getpid());
  const auto written = [&](const char* text) {
    std::ofstream(path) << text;
    return "machine=" + path;
  };
  ASSERT_TRUE(parse({"out=/x", written("cache A 4 2 0\ntlb B 4 2 0\n")}, options));
  EXPECT_EQ(options.parameters.of<sinks::SimulatorSink>().machine->caches.front().name, "A");
  EXPECT_FALSE(parse({"out=/x", written("cache A 4 2 0\n")}, options)) << "no TLB";
  EXPECT_FALSE(parse({"out=/x", written("nonsense\n")}, options));
  std::filesystem::remove(path);
  EXPECT_FALSE(parse({"out=/x", "machine=" + path}, options)) << "no file";
}

TEST(Options, AnythingElseIsRefused) {
  Options options;
  EXPECT_TRUE(parse({"out=/x", "merge=off", "distance=0", "max_object=1"}, options));
  EXPECT_FALSE(options.merge_repeats);
  EXPECT_TRUE(parse({"out=/x", "merge=on"}, options));
  EXPECT_TRUE(options.merge_repeats);
  EXPECT_EQ(options.parameters.of<sinks::HotStreamSink>().references, 0u);
  EXPECT_TRUE(parse({"out=/x", "streams=2147483648"}, options));
  EXPECT_EQ(options.parameters.of<sinks::HotStreamSink>().references, 1ul << 31);
  for (const char* wrong : {"merge=foo", "merge=", "merge", "distance=-1", "distance=1048577",
                            "max_object=4k", "streams=2147483649", "nonsense=1"}) {
    EXPECT_FALSE(parse({"out=/x", wrong}, options)) << wrong;
  }
  Options none;
  EXPECT_FALSE(parse({"out="}, none));
}

}  // namespace
}  // namespace halo::record
