// Statistics of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "base/json/writer.h"
#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// Prints, when the trace has ended:
// {"about", "modules": [{"path", "build_id", "first_site"}…], "threads", "rounds",
// "events": {KIND: N…}, "nameless": {"variable", "line"}, "ending", "detail", "lost"}
class TraceCounter : public TraceConsumer {
 public:
  explicit TraceCounter(FILE* file) : file_(file) {}

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void metadata(std::string_view json) override { metadata_ = json; }
  void maps(std::string_view) override {}
  void module(const NewModule&) override {}
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override { ++rounds_; }
  void end(const TraceEnd& end) override;

 private:
  static constexpr size_t kKinds = 16;

  void write_kinds(JsonWriter& json) const;

  FILE* file_;
  const SiteTable* sites_ = nullptr;
  std::string metadata_ = "{}";
  std::set<uint32_t> threads_;
  uint64_t rounds_ = 0;
  std::array<uint64_t, trace::kMarkers> markers_{};
  std::array<uint64_t, kKinds> kinds_{};
  uint64_t without_variable_ = 0, without_line_ = 0;  // accesses
};

}  // namespace halo::trace_tool
