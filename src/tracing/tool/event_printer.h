// Prints a trace as text, one line per event.
#pragma once

#include <cstdio>

#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// THREAD KIND ADDRESS and the kind's own fields, then the place in the source.
class EventPrinter : public TraceConsumer {
 public:
  explicit EventPrinter(FILE* file) : file_(file) {}

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void metadata(std::string_view json) override;
  void maps(std::string_view) override {}
  void module(const NewModule& module) override;
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override {}
  void end(const TraceEnd& end) override;

 private:
  void print_marker(const trace::Logged& event);
  void print_site(const trace::Logged& event);

  FILE* file_;
  const SiteTable* sites_ = nullptr;
};

}  // namespace halo::trace_tool
