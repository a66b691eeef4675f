// A trace as text, a line an event: to look into it.
#pragma once

#include <cstdio>

#include "record/llvm/trace_consumer.h"

namespace halo::record::llvm {

// THREAD KIND ADDRESS and what the kind has, then the place in the source.
class EventPrinter : public TraceConsumer {
 public:
  explicit EventPrinter(FILE* file) : file_(file) {}

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void about(std::string_view json) override;
  void maps(std::string_view) override {}
  void module(const SiteTable::Module& module) override;
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override {}
  void end(const TraceEnd& end) override;

 private:
  void print_marker(const trace::Logged& event);
  void print_site(const trace::Logged& event);

  FILE* file_;
  const SiteTable* sites_ = nullptr;
};

}  // namespace halo::record::llvm
