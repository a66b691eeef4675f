// The pairwise affinity graph of HALO, section 4.1.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "recorder/analysis/affinity_queue.h"
#include "recorder/analysis/edge_table.h"
#include "recorder/analysis/sink.h"

namespace halo::sinks {

struct AffinityGraph {
  std::vector<uint64_t> accesses;  // macro-level, by context
  std::vector<Edge> edges;
  uint64_t total_accesses = 0;
  uint64_t bursts = 0;  // number of bursts; 0: all accesses were recorded
  // The standard error of the edges' weights over the weights, both summed. Every other burst forms
  // one estimate, the rest another; the error of their sum equals their difference.
  double edge_error = 0;
};

class AffinitySink : public Sink {
 public:
  using Result = AffinityGraph;
  using Sink::on_event;
  using Sink::Sink;

  struct Options {
    uint32_t distance = 128;  // bytes
  };
  static constexpr auto options() {
    return std::tuple{NumberOption{"distance", &Options::distance, 1u << 20}};
  }

  void begin(const Options& options);
  Result finish() const;

  static bool has_activity_in(const Result& graph, base::ContextId context) {
    return accesses_of(graph, context) != 0;
  }
  static void write_parameters(const Options& options, Part& part);
  static void write_context(const Result& graph, base::ContextId context, Part& part);
  static void write_totals(const Result& graph, Part& part);
  static void write(const Result& graph, Part& part);

  void on_event(const AccessEvent& event) {
    Thread& thread = state_of(event.thread);
    if (thread.queue.is_newest(*event.object)) return;
    count_access(event.object->context, event.weight);
    thread.queue.push(*event.object, event.id, event.size, objects(),
                      edges_.adder(event.object->context, event.weight, thread.part));
  }
  void on_event(const BurstEvent& event) {
    ++bursts_;
    const EdgePart part = event.is_exact     ? EdgePart::kExact
                          : bursts_ % 2 != 0 ? EdgePart::kOdd
                                             : EdgePart::kEven;
    const auto begin = [part](Thread& thread) {
      thread.queue.clear();
      thread.part = part;
    };
    if (event.thread) return begin(state_of(*event.thread));
    part_ = part;
    for (Thread& thread : threads_) begin(thread);
  }
  void on_event(const ThreadEndEvent& event) { state_of(event.thread).queue.clear(); }
  void on_event(const ReuseEvent&) {
    for (Thread& thread : threads_) thread.queue.refresh(objects());
  }

 private:
  static uint64_t accesses_of(const Result& graph, base::ContextId context) {
    const uint32_t at = base::index(context);
    return at < graph.accesses.size() ? graph.accesses[at] : 0;
  }
  struct Thread {
    AffinityQueue queue;
    EdgePart part;
  };

  Thread& state_of(base::ThreadId thread) {
    const uint32_t at = base::index(thread);
    while (at >= threads_.size()) threads_.emplace_back(AffinityQueue(distance_), part_);
    return threads_[at];
  }
  void count_access(base::ContextId context, uint64_t weight) {
    const uint32_t at = base::index(context);
    if (at >= accesses_.size()) accesses_.resize(at + 1);
    accesses_[at] += weight;
  }

  uint32_t distance_ = 0;
  uint64_t bursts_ = 0;
  EdgePart part_ = EdgePart::kExact;  // of new threads
  std::vector<Thread> threads_;
  std::vector<uint64_t> accesses_;  // by context
  EdgeTable edges_;
};

}  // namespace halo::sinks
