// The part that a recorder writes, as text.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace halo::consumer {

// The prefix of parts of this test.
inline std::string part_prefix() {
  return testing::TempDir() + "/consumer." + std::to_string(getpid());
}

// Finishes the recorder of this process, whose parts have that prefix.
template <class Recorder>
std::string written_part(Recorder& recorder, const std::string& prefix) {
  EXPECT_TRUE(recorder.finish());
  const std::string path = prefix + "." + std::to_string(getpid()) + ".json";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

}  // namespace halo::consumer
