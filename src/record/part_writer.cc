// Renumbers what is in use and prints it as JSON.
#include "record/part_writer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "record/json_list.h"
#include "record/json_text.h"
#include "record/simulation_part.h"

namespace halo::record {

namespace {

constexpr uint32_t kUnused = UINT32_MAX;

struct PartInput {
  const sinks::AnalysisResult& result;
  const ContextTable& contexts;
  // By place in the simulation's list of code: the frame whose return address lies one byte behind.
  const std::vector<uint32_t>& code_frames;
  const RecordedRun& run;
};

// Old numbers to new ones, in order of first use.
class Renumbering {
 public:
  explicit Renumbering(size_t count) : new_of_(count, kUnused) {}
  uint32_t use(uint32_t old) {
    if (new_of_[old] == kUnused) {
      new_of_[old] = uint32_t(used_.size());
      used_.push_back(old);
    }
    return new_of_[old];
  }
  bool is_used(uint32_t old) const { return new_of_[old] != kUnused; }
  uint32_t operator[](uint32_t old) const { return new_of_[old]; }
  const std::vector<uint32_t>& used() const { return used_; }

 private:
  std::vector<uint32_t> new_of_;
  std::vector<uint32_t> used_;
};

class PartFile {
 public:
  PartFile(FILE* file, const PartInput& input)
      : file_(file),
        input_(input),
        usage_(input.result.of<sinks::UsageResult>()),
        graph_(input.result.of<sinks::AffinityGraph>()),
        trace_(input.result.of<sinks::StreamTrace>()),
        sets_(sinks::co_allocation_sets(trace_.hot, trace_.births, sites(input))),
        contexts_(input.result.context_nodes.size()),
        nodes_(input.contexts.nodes().size()),
        frames_(input.contexts.frames().size()),
        modules_(input.contexts.modules().size()) {
    choose();
  }

  void print() {
    const sinks::Parameters& parameters = input_.result.parameters;
    fprintf(file_, "{\"format\":\"halo-profile\",\"version\":1,\"producer\":\"%s\",\"pid\":%d,\n",
            input_.run.producer, input_.run.pid);
    fprintf(file_, "\"parameters\":{\"affinity_distance\":%u,\"max_object_size\":%u},\n",
            parameters.affinity_distance, parameters.max_object_size);
    print_modules();
    print_loaded();
    print_frames();
    print_nodes();
    print_contexts();
    print_edges();
    if (trace_.recorded) print_hot_streams();
    if (input_.result.of<sinks::Simulation>().simulated) print_simulated();
    print_totals();
    fprintf(file_, "}\n");
  }

 private:
  bool active(size_t context) const {
    const bool accessed = context < graph_.accesses.size() && graph_.accesses[context] != 0;
    if (context >= usage_.contexts.size()) return accessed;
    const sinks::ContextUsage& usage = usage_.contexts[context];
    return accessed || usage.allocations != 0 || usage.frees != 0 || usage.alignment != 0;
  }

  // By context: the frame of its immediate caller of malloc.
  static std::vector<uint32_t> sites(const PartInput& input) {
    std::vector<uint32_t> found;
    for (const base::NodeId node : input.result.context_nodes) {
      const uint32_t frame = input.contexts.nodes()[base::index(node)].frame;
      found.push_back(frame == ContextTable::kNoFrame ? sinks::kNoSite : frame);
    }
    return found;
  }

  void choose() {
    nodes_.use(0);
    for (uint32_t context = 0; context < input_.result.context_nodes.size(); ++context) {
      if (!active(context)) continue;
      contexts_.use(context);
      use_node(base::index(input_.result.context_nodes[context]));
    }
    for (const sinks::CoAllocationSet& set : sets_) {
      for (const uint32_t site : set.sites) frames_.use(site);
    }
    for (const uint32_t frame : input_.code_frames) frames_.use(frame);
    for (uint32_t frame : frames_.used()) {
      const int32_t module = input_.contexts.frames()[frame].place.module;
      if (module >= 0) modules_.use(uint32_t(module));
    }
  }

  // Parents first, so that a node refers only to earlier ones.
  void use_node(uint32_t node) {
    std::vector<uint32_t> chain;
    for (; !nodes_.is_used(node); node = input_.contexts.nodes()[node].parent)
      chain.push_back(node);
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      nodes_.use(*at);
      frames_.use(input_.contexts.nodes()[*at].frame);
    }
  }

  void print_module(const Module& module) {
    fprintf(file_, "{\"path\":");
    print_json_string(file_, module.path);
    fprintf(file_, ",\"build_id\":\"%s\"}", module.build_id.c_str());
  }

  void print_modules() {
    print_list(file_, "modules", modules_.used(),
               [&](uint32_t module) { print_module(input_.contexts.modules()[module]); });
  }

  // Those in which no call of the profile lies, too: their code may touch objects.
  void print_loaded() {
    std::vector<const Module*> loaded;
    for (const Module& module : input_.contexts.modules())
      if (!module.of_recorder) loaded.push_back(&module);
    print_list(file_, "loaded", loaded, [&](const Module* module) { print_module(*module); });
  }

  void print_frames() {
    print_list(file_, "frames", frames_.used(), [&](uint32_t frame) {
      const FrameInfo& info = input_.contexts.frames()[frame];
      const int module = info.place.module < 0 ? -1 : int(modules_[uint32_t(info.place.module)]);
      fprintf(file_, "[%d,%lu,%ld]", module, info.place.offset, info.distance);
    });
  }

  void print_nodes() {
    print_list(file_, "nodes", nodes_.used(), [&](uint32_t node) {
      const NodeInfo& info = input_.contexts.nodes()[node];
      const int frame = node == 0 ? -1 : int(frames_[info.frame]);
      fprintf(file_, "[%u,%d]", nodes_[info.parent], frame);
    });
  }

  void print_contexts() {
    print_list(file_, "contexts", contexts_.used(), [&](uint32_t context) {
      const sinks::ContextUsage none;
      const sinks::ContextUsage& usage =
          context < usage_.contexts.size() ? usage_.contexts[context] : none;
      const uint64_t accesses = context < graph_.accesses.size() ? graph_.accesses[context] : 0;
      fprintf(file_,
              "{\"node\":%u,\"allocations\":%lu,\"frees\":%lu,\"bytes\":%lu,\"min_size\":%u,"
              "\"max_size\":%u,\"sizes\":[",
              nodes_[base::index(input_.result.context_nodes[context])], usage.allocations,
              usage.frees, usage.bytes, usage.min_size, usage.max_size);
      const char* separator = "";
      for (const sinks::SizeCount& size : usage.sizes) {
        fprintf(file_, "%s[%u,%lu]", separator, size.size, size.count);
        separator = ",";
      }
      fprintf(file_, "],\"peak_live_bytes\":%lu,\"accesses\":%lu,\"alignment\":%u}",
              usage.peak_live_bytes, accesses, usage.alignment);
    });
  }

  void print_edges() {
    print_list(file_, "edges", graph_.edges, [&](const sinks::Edge& edge) {
      const auto [a, b] =
          std::minmax({contexts_[base::index(edge.a)], contexts_[base::index(edge.b)]});
      fprintf(file_, "[%u,%u,%lu]", a, b, edge.weight);
    });
  }

  void print_hot_streams() {
    const sinks::HotStreams& hot = trace_.hot;
    fprintf(file_,
            "\"hot_streams\":{\"references\":%lu,\"dropped\":%lu,\"symbols\":%lu,\"threshold\":%lu,"
            "\"covered\":%lu,\"streams\":%zu,\n\"sets\":[",
            hot.references, trace_.dropped, trace_.symbols, hot.threshold, hot.covered,
            hot.streams.size());
    const char* separator = "\n";
    for (const sinks::CoAllocationSet& set : sets_) {
      fprintf(file_, "%s{\"sites\":[", separator);
      separator = "";
      for (const uint32_t site : set.sites) {
        fprintf(file_, "%s%u", separator, frames_[site]);
        separator = ",";
      }
      fprintf(file_, "],\"streams\":%lu,\"heat\":%lu,\"saved\":%lu}", set.streams, set.heat,
              set.saved);
      separator = ",\n";
    }
    fprintf(file_, "]},\n");
  }

  void print_simulated() {
    const auto& simulation = input_.result.of<sinks::Simulation>();
    std::vector<uint32_t> code;
    for (const uint32_t frame : input_.code_frames) code.push_back(frames_[frame]);
    print_simulation(file_, simulation, code, contexts_.used(),
                     [this](base::ContextId context) { return contexts_[base::index(context)]; });
  }

  void print_totals() {
    fprintf(file_,
            "\"totals\":{\"allocations\":%lu,\"frees\":%lu,\"accesses\":%lu,"
            "\"machine_accesses\":%lu,\"peak_live_bytes\":%lu,\"untracked\":%lu},\n",
            usage_.allocations, usage_.frees, graph_.total_accesses, usage_.machine_accesses,
            usage_.peak_live_bytes, input_.result.untracked);
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    if (graph_.bursts != 0)
      fprintf(file_, "\"sampling\":{\"bursts\":%lu,\"edge_error\":%.4f},\n", graph_.bursts,
              graph_.edge_error);
    fprintf(file_,
            "\"recorder\":{\"seconds\":%.6f,\"peak_memory_bytes\":%ld,\"instructions\":%lu}\n",
            input_.run.seconds, own.ru_maxrss * 1024, input_.run.instructions);
  }

  FILE* file_;
  const PartInput& input_;
  const sinks::UsageResult& usage_;
  const sinks::AffinityGraph& graph_;
  const sinks::StreamTrace& trace_;
  const std::vector<sinks::CoAllocationSet> sets_;
  Renumbering contexts_, nodes_, frames_, modules_;
};

bool has_activity(const sinks::AnalysisResult& result) {
  const auto& usage = result.of<sinks::UsageResult>();
  return usage.allocations + usage.frees + usage.machine_accesses + result.untracked != 0;
}

// Where it fails, errno says why.
bool print_to(const std::string& path, const PartInput& input) {
  FILE* file = fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  PartFile(file, input).print();
  const bool printed = fflush(file) == 0 && !ferror(file);
  const int reason = errno;
  const bool closed = fclose(file) == 0;
  if (!printed) errno = reason;
  return printed && closed;
}

}  // namespace

bool write_part(const std::string& prefix, sinks::AnalysisResult result, ContextTable& contexts,
                const RecordedRun& run) {
  if (run.forked && !has_activity(result)) return true;
  std::vector<uint32_t> code_frames;
  for (const sinks::CodeTally& code : result.of<sinks::Simulation>().code)
    code_frames.push_back(contexts.frame_of(code.code + 1));
  const PartInput input{result, contexts, code_frames, run};
  const std::string path = prefix + "." + std::to_string(run.pid) + ".json";
  const std::string temporary = path + ".tmp";
  if (print_to(temporary, input) && rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int reason = errno;
  unlink(temporary.c_str());
  fprintf(stderr, "halo-recorder: cannot write %s: %s\n", path.c_str(), strerror(reason));
  return false;
}

}  // namespace halo::record
