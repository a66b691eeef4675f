// halo-replay: runs a text trace through the sinks and prints the affinity graph.
//
//   halo-replay DISTANCE < trace
//
// Trace lines: `alloc ID CONTEXT SIZE`, `free ID`, `access THREAD ID SIZE`. Prints `node CONTEXT
// ACCESSES` and `edge A B WEIGHT` lines, by the contexts' numbers in the trace.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/analysis/analysis.h"

namespace {

using halo::base::ThreadId;
using halo::events::Kind;
using halo::events::Record;

class Replay {
 public:
  explicit Replay(uint32_t distance)
      : analysis_(
            halo::sinks::Parameters{}.with<halo::sinks::AffinitySink>({.distance = distance})) {}

  // Returns false if the line is malformed.
  bool line(const std::string& text) {
    std::istringstream in(text);
    std::string verb;
    uint64_t id = 0, size = 0;
    uint32_t thread = 0, context = 0;
    if (!(in >> verb) || verb[0] == '#') return true;
    if (verb == "alloc" && in >> id >> context >> size) {
      alloc(id, context, size);
    } else if (verb == "free" && in >> id) {
      feed(ThreadId{0}, Record::make(Kind::kFree, addresses_[id], 0));
    } else if (verb == "access" && in >> thread >> id >> size) {
      const uint32_t log2 = uint32_t(std::countr_zero(size));
      feed(ThreadId{thread}, Record::access(addresses_[id], log2, false, 0, 0));
    } else {
      return false;
    }
    return true;
  }

  void print(std::ostream& out) const {
    const auto result = analysis_.finish();
    const auto& graph = result.of<halo::sinks::AffinityGraph>();
    const auto node = [&](size_t at) { return halo::base::index(result.context_nodes[at]); };
    for (size_t at = 0; at < graph.accesses.size(); ++at) {
      if (graph.accesses[at]) out << "node " << node(at) << ' ' << graph.accesses[at] << '\n';
    }
    for (const auto& edge : graph.edges) {
      const auto [a, b] =
          std::minmax({node(halo::base::index(edge.a)), node(halo::base::index(edge.b))});
      out << "edge " << a << ' ' << b << ' ' << edge.weight << '\n';
    }
  }

 private:
  void alloc(uint64_t id, uint32_t context, uint64_t size) {
    addresses_[id] = next_address_;
    feed(ThreadId{0}, Record::make(Kind::kAlloc, next_address_, size));
    feed(ThreadId{0}, Record::make(Kind::kContext, 0, context));
    next_address_ += (size + 31) / 16 * 16;
  }
  void feed(ThreadId thread, const Record& record) { analysis_.consume(thread, {&record, 1}); }

  halo::sinks::Analysis analysis_;
  std::unordered_map<uint64_t, uint64_t> addresses_;
  uint64_t next_address_ = 0x10000;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: halo-replay DISTANCE < trace\n";
    return 2;
  }
  Replay replay(uint32_t(std::strtoul(argv[1], nullptr, 10)));
  std::string line;
  while (std::getline(std::cin, line)) {
    if (replay.line(line)) continue;
    std::cerr << "halo-replay: not understood: " << line << '\n';
    return 1;
  }
  replay.print(std::cout);
}
