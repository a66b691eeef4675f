// A trace's events lead to the same contexts as in a simple reference.
#include "tracing/tool/profiler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace halo::trace_tool {
namespace {

using trace::Logged;
using trace::Marker;

constexpr uint64_t kEnter = trace::kMarkers, kExit = kEnter + 1, kLoad = kEnter + 2,
                   kCopy = kEnter + 3, kVector = kEnter + 4;

trace::Site site_of(trace::SiteKind kind, uint16_t size, uint8_t alignment_log2 = 0) {
  trace::Site site{};
  site.kind = kind;
  site.size = size;
  site.alignment_log2 = alignment_log2;
  return site;
}

class ProfilerTest : public testing::Test {
 protected:
  ProfilerTest() : folder_(testing::TempDir() + "profiler." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    options_.out = folder_ + "/part";
    profiler_ = std::make_unique<Profiler>(options_);
    const trace::Site sites[] = {
        site_of(trace::SiteKind::kEnter, 0), site_of(trace::SiteKind::kExit, 0),
        site_of(trace::SiteKind::kLoad, 8), site_of(trace::SiteKind::kReadRange, 0),
        site_of(trace::SiteKind::kLoad, 16, 4)};
    trace::Module module{};
    module.head.first_site = trace::kMarkers;
    module.path = "/x/prog";
    module.sites = std::as_bytes(std::span(sites));
    module.head.sites_bytes = module.sites.size();
    sites_.add(module);
    profiler_->begin(sites_);
    profiler_->metadata("{\"pid\":7,\"args\":[\"pid\"]}");
    profiler_->maps("[[4096,65536,4096,\"/x/prog\",\"ab\"]]");
    profiler_->module({sites_.modules().back(), sites_.end(), 0, 0});
  }
  ~ProfilerTest() override { std::filesystem::remove_all(folder_); }

  void event(uint64_t site, uint64_t word1, uint64_t word2 = 0, uint32_t thread = 0) {
    const Logged one{site, word1, word2};
    profiler_->events(thread, {&one, 1});
  }
  void marker(Marker marker, uint64_t word1, uint64_t word2 = 0) {
    event(uint64_t(marker), word1, word2);
  }
  void alloc(uint64_t address, uint64_t bytes, uint64_t slot, uint64_t return_address) {
    marker(Marker::kAlloc, address, bytes);
    marker(Marker::kAllocFrom, slot, return_address);
  }
  std::string part() {
    profiler_->end({});
    std::ifstream file(options_.out + ".7.json");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  }

 private:
  const std::string folder_;
  record::Options options_;
  trace::SiteTable sites_;
  std::unique_ptr<Profiler> profiler_;
};

TEST_F(ProfilerTest, EntriesAndTheCallMakeTheContext) {
  event(kEnter, 0x9000, 4100);
  event(kEnter, 0x8000, 4200);
  event(kExit, 0x8000);
  event(kEnter, 0x8000, 4300);
  alloc(0x100000, 32, 0x7000, 4400);
  const std::string text = part();
  EXPECT_TRUE(has(text, "[0,4100,0],\n[0,4300,4096],\n[0,4400,4096]]")) << text;
  EXPECT_TRUE(has(text, "\"producer\":\"llvm\",\"pid\":7"));
}

TEST_F(ProfilerTest, FramesOfOtherCodeAreWhereTheirSlotsLie) {
  event(kEnter, 0x9000, 4100);
  event(kEnter, 0x8000, 4300);
  marker(Marker::kFrame, 0xA000, 4050);  // outside all instrumented frames: left out
  marker(Marker::kFrame, 0x8800, 4200);  // between the two
  marker(Marker::kFrame, 0x7800, 4400);  // inside both
  alloc(0x100000, 32, 0x7000, 4500);
  EXPECT_TRUE(
      has(part(), "[0,4100,0],\n[0,4200,2048],\n[0,4300,2048],\n[0,4400,2048],\n[0,4500,2048]]"));
}

TEST_F(ProfilerTest, FramesInsideAreDroppedAfterTheAllocation) {
  event(kEnter, 0x9000, 4100);
  marker(Marker::kFrame, 0x8800, 4200);
  alloc(0x100000, 32, 0x7000, 4500);
  event(kEnter, 0x8000, 4300);  // lower than the frame that has returned meanwhile
  alloc(0x100100, 32, 0x7000, 4600);
  const std::string text = part();
  EXPECT_TRUE(has(text, "\"nodes\":[\n[0,-1],\n[0,0],\n[1,1],\n[2,2],\n[1,3],\n[4,4]]")) << text;
}

TEST_F(ProfilerTest, AccessesAreCutAsTheEmulatorCutsThem) {
  event(kEnter, 0x9000, 4100);
  alloc(0x100000, 64, 0x8000, 4500);
  event(kLoad, 0x100000);
  event(kVector, 0x100010);      // two of 8 bytes
  event(kCopy, 0x100008, 40);    // 8, then twice 16 in two each
  event(kLoad, 0x7fff00000000);  // on the stack: not recorded
  const std::string text = part();
  EXPECT_TRUE(has(text, "\"machine_accesses\":8")) << text;
  EXPECT_TRUE(has(text, "\"alignment\":16"));
}

TEST_F(ProfilerTest, AThreadsNumberIsUsedAgain) {
  event(kEnter, 0x9000, 4100);
  marker(Marker::kThreadEnd, 0);
  event(kEnter, 0x9000, 4100);
  alloc(0x100000, 32, 0x7000, 4400);
  EXPECT_TRUE(has(part(), "\"allocations\":1"));
}

}  // namespace
}  // namespace halo::trace_tool
