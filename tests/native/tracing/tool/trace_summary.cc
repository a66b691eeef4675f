// Prints the contents of a trace on standard input as JSON; tests/python/support/programs reads it.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "tracing/format/trace_reader.h"

namespace {

using halo::trace::kMarkers;
using halo::trace::Logged;
using halo::trace::Site;

class Summary final : public halo::trace::TraceVisitor {
 public:
  void metadata(std::string_view json) override { metadata_ = json; }
  void maps(std::string_view json) override { maps_ = json, ++maps_count_; }
  void round(uint64_t) override { ++rounds_; }
  void end(const halo::trace::EndNote& note) override { end_ = note, ended_ = true; }

  void module(const halo::trace::Module& module) override {
    const auto* sites = reinterpret_cast<const Site*>(module.sites.data());
    for (size_t at = 0; at < module.sites.size() / sizeof(Site); ++at)
      lines_[module.head.first_site + at] = sites[at].line;
    modules_ += (modules_.empty() ? "\"" : ",\"") + std::string(module.path) + "\"";
  }

  // By marker (below 16), or by the line of the site (plus 1000): the number of events, and the sum
  // of word2.
  void events(uint32_t thread, std::span<const Logged> events) override {
    for (const Logged& event : events) {
      const uint64_t kind = event.site < kMarkers ? event.site : 1000 + lines_.at(event.site);
      auto& [count, sum] = counts_[{thread, kind}];
      ++count;
      sum += event.word2;
    }
    all_ += events.size();
  }

  void print(bool complete) const {
    std::printf("{\"complete\":%s,\"about\":%s,\"maps\":%s,\"maps_count\":%u,\"rounds\":%u,",
                complete ? "true" : "false", metadata_.c_str(), maps_.c_str(), maps_count_,
                rounds_);
    std::printf("\"modules\":[%s],\"all\":%lu,\"counts\":[", modules_.c_str(), all_);
    const char* comma = "";
    for (const auto& [key, value] : counts_) {
      std::printf("%s[%u,%lu,%lu,%lu]", comma, key.first, key.second, value.first, value.second);
      comma = ",";
    }
    std::printf("]");
    if (ended_) {
      std::printf(",\"end\":[%u,%u,%lu,%lu]", uint32_t(end_.ending), end_.detail, end_.written,
                  end_.lost);
    }
    std::printf("}\n");
  }

 private:
  std::string metadata_ = "null", maps_ = "null", modules_;
  unsigned maps_count_ = 0, rounds_ = 0;
  uint64_t all_ = 0;
  bool ended_ = false;
  halo::trace::EndNote end_{};
  std::map<uint64_t, uint64_t> lines_;
  std::map<std::pair<uint32_t, uint64_t>, std::pair<uint64_t, uint64_t>> counts_;
};

}  // namespace

int main() {
  Summary summary;
  halo::trace::TraceReader reader(STDIN_FILENO);
  try {
    summary.print(reader.read(summary) == halo::trace::ReadResult::kComplete);
  } catch (const halo::trace::TraceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
