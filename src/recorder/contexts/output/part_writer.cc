// Renumbers the used contexts, frames and modules, and lets each sink write its own members.
#include "recorder/contexts/output/part_writer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace halo::record {

namespace {

using sinks::SinkList;

constexpr uint32_t kUnused = UINT32_MAX;

// Maps old numbers to new ones, in order of first use.
class Renumbering {
 public:
  uint32_t use(uint32_t old) {
    if (old >= new_of_.size()) new_of_.resize(old + 1, kUnused);
    if (new_of_[old] == kUnused) {
      new_of_[old] = uint32_t(used_.size());
      used_.push_back(old);
    }
    return new_of_[old];
  }
  uint32_t operator[](uint32_t old) const { return old < new_of_.size() ? new_of_[old] : kUnused; }
  const std::vector<uint32_t>& used() const { return used_; }

 private:
  std::vector<uint32_t> new_of_;
  std::vector<uint32_t> used_;
};

class PartFile : public sinks::Part {
 public:
  PartFile(FILE* file, const sinks::AnalysisResult& result, ContextTable& contexts,
           const RecordedRun& run)
      : Part(file), result_(result), table_(contexts), run_(run) {}

  void write() {
    value([this] {
      write_head();
      choose_contexts();
      list("contexts", contexts(), [this](uint32_t context) { write_context(context); });
      for_each_result([this]<class Sink>(const auto& result) { Sink::write(result, *this); });
      field("totals", [this] { write_totals(); });
      write_stacks();
      field("recorder", [this] { write_recorder(); });
    });
  }

  const std::vector<uint32_t>& contexts() const override { return contexts_.used(); }
  uint32_t index_of(base::ContextId context) const override {
    return contexts_[base::index(context)];
  }
  std::vector<uint32_t> sites() const override {
    std::vector<uint32_t> found;
    for (const base::NodeId node : result_.context_nodes) {
      const uint32_t frame = table_.nodes()[base::index(node)].frame;
      found.push_back(frame == ContextTable::kNoFrame ? sinks::kNoSite : frame);
    }
    return found;
  }
  uint32_t frame(uint32_t site) override { return frames_.use(site); }
  uint32_t frame_at(uint64_t return_address) override {
    return frames_.use(table_.frame_of(return_address));
  }

 private:
  template <class Visit>
  void for_each_result(Visit&& visit) const {
    SinkList::for_each([&]<class Sink>() {
      visit.template operator()<Sink>(result_.of<typename Sink::Result>());
    });
  }

  void write_head() {
    fields("format", "halo-profile", "version", 1, "producer", run_.producer, "pid", run_.pid);
    field("parameters", [this] {
      field("max_object_size", result_.parameters.max_object_size);
      SinkList::for_each(
          [this]<class Sink>() { Sink::write_parameters(result_.parameters.of<Sink>(), *this); });
    });
  }

  void choose_contexts() {
    nodes_.use(0);
    for (uint32_t at = 0; at < result_.context_nodes.size(); ++at) {
      const bool active = SinkList::any([&]<class Sink>() {
        return Sink::has_activity_in(result_.of<typename Sink::Result>(), base::ContextId{at});
      });
      if (!active) continue;
      contexts_.use(at);
      use_node(base::index(result_.context_nodes[at]));
    }
  }

  // Parents first, so that a node refers only to earlier ones.
  void use_node(uint32_t node) {
    std::vector<uint32_t> chain;
    for (; nodes_[node] == kUnused; node = table_.nodes()[node].parent) chain.push_back(node);
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      nodes_.use(*at);
      frames_.use(table_.nodes()[*at].frame);
    }
  }

  void write_context(uint32_t context) {
    value([&] {
      field("node", nodes_[base::index(result_.context_nodes[context])]);
      for_each_result([&]<class Sink>(const auto& result) {
        Sink::write_context(result, base::ContextId{context}, *this);
      });
    });
  }

  void write_totals() {
    field("untracked", result_.untracked);
    for_each_result([this]<class Sink>(const auto& result) { Sink::write_totals(result, *this); });
  }

  void write_stacks() {
    list("nodes", nodes_.used(), [this](uint32_t node) {
      const NodeInfo& info = table_.nodes()[node];
      row(nodes_[info.parent], node == 0 ? -1 : int(frames_[info.frame]));
    });
    list("frames", frames_.used(), [this](uint32_t frame) {
      const FrameInfo& info = table_.frames()[frame];
      const int32_t module = info.place.module;
      row(module < 0 ? -1 : int(modules_.use(uint32_t(module))), info.place.offset, info.distance);
    });
    list("modules", modules_.used(),
         [this](uint32_t module) { write_module(table_.modules()[module]); });
    // Includes modules without a call of the profile: their code may access objects.
    std::vector<const Module*> loaded;
    for (const Module& module : table_.modules())
      if (!module.of_recorder) loaded.push_back(&module);
    list("loaded", loaded, [this](const Module* module) { write_module(*module); });
    if (table_.generates_code()) field("generated_code", true);
  }

  void write_module(const Module& module) {
    value([&] { fields("path", module.path, "build_id", module.build_id); });
  }

  void write_recorder() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    field("seconds", run_.seconds, 6);
    fields("peak_memory_bytes", own.ru_maxrss * 1024, "instructions", run_.instructions);
  }

  const sinks::AnalysisResult& result_;
  ContextTable& table_;
  const RecordedRun& run_;
  Renumbering contexts_, nodes_, frames_, modules_;
};

bool has_activity(const sinks::AnalysisResult& result) {
  return result.untracked != 0 || SinkList::any([&]<class Sink>() {
           return Sink::has_activity(result.of<typename Sink::Result>());
         });
}

// On failure, errno has the reason.
bool print_to(const std::string& path, const sinks::AnalysisResult& result, ContextTable& contexts,
              const RecordedRun& run) {
  FILE* file = fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  PartFile(file, result, contexts, run).write();
  const bool printed = fflush(file) == 0 && !ferror(file);
  const int reason = errno;
  const bool closed = fclose(file) == 0;
  if (!printed) errno = reason;
  return printed && closed;
}

}  // namespace

bool write_part(const std::string& prefix, const sinks::AnalysisResult& result,
                ContextTable& contexts, const RecordedRun& run) {
  if (run.forked && !has_activity(result)) return true;
  const std::string path = prefix + "." + std::to_string(run.pid) + ".json";
  const std::string temporary = path + ".tmp";
  if (print_to(temporary, result, contexts, run) && rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  const int reason = errno;
  unlink(temporary.c_str());
  fprintf(stderr, "halo-recorder: cannot write %s: %s\n", path.c_str(), strerror(reason));
  return false;
}

}  // namespace halo::record
