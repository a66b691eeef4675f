// halo-trace: prints traces, and converts them to columns and profiles.
//
//   halo-trace events TRACE                            text, one line per event
//   halo-trace info TRACE                              JSON: statistics
//   halo-trace columns [--machine=this|FILE] TRACE     blocks for halo/studies/tracing
//   (column_blocks.h) halo-trace profile --out=PREFIX [--distance=BYTES] [--max-object=BYTES]
//   [--streams=N]
//                      [--machine=this|FILE] [--progress=FILE] [--phase-function=FUNCTION] TRACE
//
// TRACE may be `-`, standard input. With `profile` it may be `listen:SOCKET`: the tool then
// receives the traces of all processes that connect, until standard input ends (trace_server.h).
// Exit status: 0 success, 1 cannot write, 2 wrong usage, 3 no trace, or a newer or damaged one.
// Status 3 comes with one sentence on stderr.
//
// With `phase-function`, the object trace has a phase: from the first entry into FUNCTION to the
// last exit.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "recorder/analysis/simulator_sink.h"
#include "recorder/contexts/options.h"
#include "tracing/format/trace_reader.h"
#include "tracing/tool/column_maker.h"
#include "tracing/tool/event_printer.h"
#include "tracing/tool/profiler.h"
#include "tracing/tool/trace_counter.h"
#include "tracing/tool/trace_input.h"
#include "tracing/tool/trace_server.h"

namespace {

using halo::trace_tool::TraceConsumer;

enum Status { kDone = 0, kCannotWrite = 1, kUsage = 2, kNoTrace = 3 };

int usage() {
  fputs("usage: halo-trace events|info|columns|profile [--NAME=VALUE...] TRACE|-\n", stderr);
  return kUsage;
}

int read_into(int descriptor, TraceConsumer& consumer) {
  try {
    halo::trace_tool::read_trace(descriptor, consumer);
  } catch (const std::system_error& error) {
    fprintf(stderr, "halo-trace: %s\n", error.what());
    return kCannotWrite;
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return kNoTrace;
  }
  return kDone;
}

int read_into(const std::string& path, TraceConsumer& consumer) {
  const int descriptor = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) return read_into(descriptor, consumer);
  fprintf(stderr, "the trace cannot be read: %s\n", strerror(errno));
  return kNoTrace;
}

int print_events(const std::string& path) {
  halo::trace_tool::EventPrinter printer(stdout);
  const int status = read_into(path, printer);
  return fflush(stdout) == 0 ? status : kCannotWrite;
}

int print_info(const std::string& path) {
  halo::trace_tool::TraceCounter counter(stdout);
  const int status = read_into(path, counter);
  return fflush(stdout) == 0 ? status : kCannotWrite;
}

int write_columns(const std::string& path, const std::vector<std::string>& options) {
  std::optional<halo::simulator::Machine> machine;
  constexpr std::string_view kMachine = "--machine=";
  for (const std::string& option : options) {
    if (!option.starts_with(kMachine)) return usage();
    if (!halo::sinks::read_machine(std::string_view(option).substr(kMachine.size()), machine))
      return kUsage;
  }
  try {
    halo::trace_tool::BlockOutput output(STDOUT_FILENO);
    halo::trace_tool::ColumnMaker maker(output, machine);
    return read_into(path, maker);
  } catch (const std::system_error& error) {
    fprintf(stderr, "halo-trace: %s\n", error.what());
    return kCannotWrite;
  }
}

// The recorder's own options, in the form --NAME=VALUE.
int write_profile(const std::string& path, std::vector<std::string> arguments) {
  constexpr std::string_view kPhase = "--phase-function=";
  std::string phase;
  std::vector<char*> plain;
  for (std::string& argument : arguments) {
    if (argument.starts_with(kPhase)) {
      phase = argument.substr(kPhase.size());
      continue;
    }
    const size_t equals = std::min(argument.find('='), argument.size());
    std::replace(argument.begin() + 2, argument.begin() + int64_t(equals), '-', '_');
    plain.push_back(argument.data() + 2);
  }
  halo::record::Options options;
  if (!halo::record::parse_options(plain, options)) return kUsage;
  const auto read = [&](const auto& trace) -> int {
    halo::trace_tool::Profiler profiler(options, phase);
    const int status = read_into(trace, profiler);
    return status == kDone && !profiler.written() ? kCannotWrite : status;
  };
  constexpr std::string_view kListen = "listen:";
  if (!path.starts_with(kListen)) return read(path);
  return halo::trace_tool::serve_traces(path.substr(kListen.size()), read);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return usage();
  const std::string_view command = argv[1];
  const std::string path = argv[argc - 1];
  const std::vector<std::string> options(argv + 2, argv + argc - 1);
  const bool all_options = std::all_of(options.begin(), options.end(),
                                       [](const auto& one) { return one.starts_with("--"); });
  if (!all_options) return usage();
  if (command == "columns") return write_columns(path, options);
  if (command == "profile") return write_profile(path, options);
  if (!options.empty()) return usage();
  if (command == "events") return print_events(path);
  if (command == "info") return print_info(path);
  return usage();
}
