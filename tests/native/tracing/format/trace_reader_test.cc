// A reader delivers all events before a cut, and refuses changed bytes.
#include "tracing/format/trace_reader.h"

#include <gtest/gtest.h>

#include <thread>

#include "tools/synthetic_events.h"
#include "tracing/format/synthetic_trace.h"

namespace halo::trace {
namespace {

struct Written {
  std::string bytes;
  std::string script;
  std::vector<size_t> frames;  // start of each
};

// A small trace with every kind of frame, two modules and two threads.
Written small_trace() {
  SyntheticProgram program("list", 3);
  const MadeModule module = module_of(program.sites());
  MemorySink sink;
  Packer packer;
  Script script;
  Written written;
  const auto frame = [&](auto&& write) {
    written.frames.push_back(sink.bytes.size());
    EXPECT_TRUE(write());
  };
  const auto block = [&](uint32_t thread) {
    const std::vector<Logged> events = program.run(20);
    frame([&] { return write_events(sink, thread, packer.pack(thread, events)); });
    script.events(thread, events);
  };
  const auto add_module = [&](uint64_t first, const char* path) {
    frame([&] { return write_module(sink, module.note(), first, path, "c0ffee"); });
    EXPECT_TRUE(packer.add_sites(program.sites()));
    script.text += std::string("module ") + path + " c0ffee sites " +
                   std::to_string(module.sites.size() * sizeof(Site)) + " strings 10\n";
  };
  EXPECT_TRUE(write_file_head(sink));
  frame([&] { return write_metadata(sink, "{\"format\":\"halo-trace\"}"); });
  script.metadata("{\"format\":\"halo-trace\"}");
  add_module(kMarkers, "/bin/one");
  frame([&] { return write_maps(sink, "[]"); });
  script.maps("[]");
  block(0);
  block(1);
  frame([&] { return write_round(sink, 77); });
  script.round(77);
  add_module(kMarkers + module.sites.size(), "/lib/two.so");
  block(0);
  const EndNote note{.ending = Ending::kComplete, .detail = 0, .written = 60, .lost = 0};
  frame([&] { return write_end(sink, note); });
  script.end(note);
  written.bytes = sink.bytes;
  written.script = script.text;
  return written;
}

struct Outcome {
  ReadResult result = ReadResult::kComplete;
  std::string script;
  std::string error;
};

Outcome read_bytes(std::string_view bytes) {
  const MemoryFile file(bytes);
  Outcome outcome;
  Script script;
  try {
    TraceReader reader(file.descriptor());
    outcome.result = reader.read(script);
  } catch (const TraceError& error) {
    outcome.error = error.what();
  }
  outcome.script = script.text;
  return outcome;
}

TEST(TraceReader, DeliversWrittenEvents) {
  const Written written = small_trace();
  const Outcome outcome = read_bytes(written.bytes);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.result, ReadResult::kComplete);
  EXPECT_EQ(outcome.script, written.script);
}

TEST(TraceReader, ReadsAPipeThatStaysOpen) {
  const Written written = small_trace();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    for (const char byte : written.bytes) ASSERT_EQ(write(ends[1], &byte, 1), 1);
  });
  Script script;
  EXPECT_EQ(TraceReader(ends[0]).read(script), ReadResult::kComplete);
  EXPECT_EQ(script.text, written.script);
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(TraceReader, DeliversAllWholeFramesBeforeACut) {
  const Written written = small_trace();
  size_t whole = 0;
  std::string before;
  for (size_t cut = sizeof(FileHead); cut < written.bytes.size(); ++cut) {
    if (whole + 1 < written.frames.size() && cut == written.frames[whole + 1]) ++whole;
    const Outcome outcome = read_bytes(std::string_view(written.bytes).substr(0, cut));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.result, ReadResult::kCutShort);
    ASSERT_TRUE(written.script.starts_with(outcome.script));
    ASSERT_GE(outcome.script.size(), before.size()) << "cut at " << cut;
    // Each further whole frame must add a line.
    if (cut == written.frames[whole] && whole != 0) {
      ASSERT_GT(outcome.script.size(), before.size()) << "cut at " << cut;
    }
    before = outcome.script;
  }
}

TEST(TraceReader, NothingChangedGoesUnnoticed) {
  const Written written = small_trace();
  for (size_t at = 0; at < written.bytes.size(); ++at) {
    for (const size_t bit : {at % 8}) {
      std::string changed = written.bytes;
      changed[at] = char(changed[at] ^ (1 << bit));
      const Outcome outcome = read_bytes(changed);
      const bool noticed = !outcome.error.empty() || outcome.result == ReadResult::kCutShort;
      EXPECT_TRUE(noticed) << "byte " << at;
      EXPECT_TRUE(written.script.starts_with(outcome.script)) << "byte " << at;
    }
  }
}

TEST(TraceReader, ReportsOtherFiles) {
  EXPECT_EQ(read_bytes("").error, "this is not a trace: it is empty");
  EXPECT_EQ(read_bytes("#!/bin/sh\necho hello\n").error, "this is not a trace");
  EXPECT_EQ(read_bytes("HALOPLAN\n").error, "this is not a trace");
  EXPECT_EQ(read_bytes("HALOTRC\n\1").error, "the trace is cut short within its first 16 bytes");
}

TEST(TraceReader, RefusesANewerVersion) {
  std::string bytes = small_trace().bytes;
  bytes[sizeof kMagic] = 7;
  EXPECT_EQ(read_bytes(bytes).error, "the trace is of version 7, this halo reads up to 1");
}

}  // namespace
}  // namespace halo::trace
