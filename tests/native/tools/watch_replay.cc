// halo-watch-replay [--NAME=VALUE ...]: feeds events from stdin to the watch, and prints its
// actions.
//
// Each event is a line of words: a letter, its numbers, then the time in microseconds and the
// counters (accesses, misses):
//
//   a ADDRESS BYTES CONTEXT FIRST-PAGE PAGES   allocated: prints `open` or `restrictive`
//   f ADDRESS                                  freed
//   r PAGE                                     an armed page was referenced
//   p                                          time passed
//
// Ends with status 1 if an argument or an event is not understood.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "studies/pollution/monitor/monitor.h"

namespace {

using namespace halo::watch;

class Printer final : public Actions {
 public:
  void arm(Page page) override { printf("arm %" PRIu64 "\n", page); }
  void disarm(Page page) override { printf("disarm %" PRIu64 "\n", page); }
  void move(uint64_t address, Mapping to) override {
    printf("move %" PRIu64 " %s\n", address, name(to));
  }
  void sample(Page page, bool is_miss) override {
    printf("%s %" PRIu64 "\n", is_miss ? "miss" : "hit", page);
  }
  void judge(uint64_t address, ContextIndex context, uint64_t hits, uint64_t misses) override {
    printf("judge %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", address, context, hits, misses);
  }

  static const char* name(Mapping mapping) {
    return mapping == Mapping::kOpen ? "open" : "restrictive";
  }
};

bool read_parameters(int argc, char** argv, Parameters* parameters, uint32_t* contexts) {
  uint64_t origin = 0;
  const std::map<std::string, uint32_t*> words = {{"rounds", &parameters->max_rounds},
                                                  {"bursts", &parameters->max_bursts},
                                                  {"interval", &parameters->max_interval},
                                                  {"pending", &parameters->max_pending},
                                                  {"objects", &parameters->max_objects},
                                                  {"pages", &parameters->max_pages},
                                                  {"contexts", contexts}};
  const std::map<std::string, uint64_t*> numbers = {{"open", &parameters->open_lines},
                                                    {"restrict", &parameters->restrict_lines},
                                                    {"round-bytes", &parameters->round_bytes},
                                                    {"min", &parameters->min_bytes},
                                                    {"always", &parameters->always_bytes},
                                                    {"stale", &parameters->stale_us},
                                                    {"pause", &parameters->pause_us},
                                                    {"period", &parameters->period_us},
                                                    {"timeout", &parameters->timeout_us},
                                                    {"origin-first", &origin},
                                                    {"seed", &parameters->seed}};
  for (int at = 1; at < argc; ++at) {
    const std::string text = argv[at];
    const size_t equal = text.find('=');
    if (!text.starts_with("--") || equal == std::string::npos) return false;
    const std::string name = text.substr(2, equal - 2);
    const uint64_t value = std::strtoull(text.c_str() + equal + 1, nullptr, 10);
    if (const auto word = words.find(name); word != words.end())
      *word->second = static_cast<uint32_t>(value);
    else if (const auto number = numbers.find(name); number != numbers.end())
      *number->second = value;
    else
      return false;
  }
  if (origin != 0) parameters->origin = Origin::kFirst;
  return true;
}

bool feed(const std::string& line, Monitor* monitor) {
  std::istringstream words(line);
  char kind = 0;
  uint64_t address = 0, bytes = 0, first = 0, pages = 0;
  ContextIndex context = 0;
  Now now;
  words >> kind;
  if (kind == 'a') words >> address >> bytes >> context >> first >> pages;
  if (kind == 'f' || kind == 'r') words >> address;
  words >> now.us >> now.counters.accesses >> now.counters.misses;
  if (!words) return false;
  if (kind == 'a')
    puts(Printer::name(monitor->allocated(address, bytes, context, first, pages, now)));
  else if (kind == 'f')
    monitor->freed(address, now);
  else if (kind == 'r')
    monitor->referenced(address, now);
  else if (kind == 'p')
    monitor->passed(now);
  else
    return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Parameters parameters;
  uint32_t contexts = 16;
  if (!read_parameters(argc, argv, &parameters, &contexts)) {
    fputs("usage: halo-watch-replay [--NAME=VALUE ...] < EVENTS\n", stderr);
    return 1;
  }
  Printer printer;
  Monitor monitor(parameters, contexts, &printer);
  std::string line;
  for (uint64_t number = 1; std::getline(std::cin, line); ++number) {
    if (feed(line, &monitor)) continue;
    fprintf(stderr, "halo-watch-replay: line %" PRIu64 " is not an event.\n", number);
    return 1;
  }
  const Predictor::Score score = monitor.predictor().score();
  printf("score %" PRIu64 " %" PRIu64 "\n", score.confirmed, score.wrong);
  return 0;
}
