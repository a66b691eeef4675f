// What a trace consists of, in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "record/llvm/trace_consumer.h"

namespace halo::record::llvm {

// Prints, when the trace has ended:
// {"about", "modules": [{"path", "build_id", "sites", "owners"}…], "threads", "rounds",
// "events": {KIND: N…}, "nameless": {"variable", "line"}, "ending", "detail", "lost"}
class TraceCounter : public TraceConsumer {
 public:
  explicit TraceCounter(FILE* file) : file_(file) {}

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void about(std::string_view json) override { about_ = json; }
  void maps(std::string_view) override {}
  void module(const SiteTable::Module&) override {}
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override { ++rounds_; }
  void end(const TraceEnd& end) override;

 private:
  static constexpr size_t kKinds = 16;

  void print_modules() const;
  void print_kinds() const;

  FILE* file_;
  const SiteTable* sites_ = nullptr;
  std::string about_ = "{}";
  std::set<uint32_t> threads_;
  uint64_t rounds_ = 0;
  std::array<uint64_t, trace::kMarkers> markers_{};
  std::array<uint64_t, kKinds> kinds_{};
  uint64_t without_variable_ = 0, without_line_ = 0;  // accesses
};

}  // namespace halo::record::llvm
