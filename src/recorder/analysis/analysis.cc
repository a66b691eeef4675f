// Resolves addresses and dispatches events.
#include "recorder/analysis/analysis.h"

#include <utility>

namespace halo::sinks {

namespace {

// Prefetch distances in records: first for the granule map, then for the object record.
constexpr size_t kMapAhead = 32;
constexpr size_t kObjectAhead = 16;

template <class... Sinks>
std::tuple<Sinks...> make_sinks(const ObjectTable& objects, std::tuple<Sinks...>*) {
  return {Sinks(objects)...};
}

// The map keeps freed objects until their memory is tracked again.
bool is_alive_at(const Object& object, uint64_t address) {
  return object.size != 0 && object.address == address && !object.freed;
}

}  // namespace

Analysis::Analysis(const Parameters& parameters)
    : parameters_(parameters),
      all_accesses_(parameters.need_all_accesses()),
      sinks_(make_sinks(objects_, static_cast<SinkList::Instances*>(nullptr))) {
  begin_sinks();
}

void Analysis::begin_sinks() {
  SinkList::for_each(
      [this]<class OneSink>() { std::get<OneSink>(sinks_).begin(parameters_.of<OneSink>()); });
}

void Analysis::restart_counts() {
  untracked_ = 0;
  begin_sinks();
}

AnalysisResult Analysis::finish() const {
  return {parameters_, context_nodes_,
          std::apply([](auto&... sink) { return SinkList::Results{sink.finish()...}; }, sinks_),
          untracked_};
}

void Analysis::consume(base::ThreadId thread, std::span<const events::Record> records, size_t begin,
                       size_t end) {
  while (base::index(thread) >= threads_.size()) threads_.push_back({.weight = weight_});
  ThreadState& state = threads_[base::index(thread)];
  for (size_t at = begin; at < end; ++at) {
    prefetch_ahead(records, at);
    const events::Record& record = records[at];
    if (record.repeats() != 0) on_repeats(thread, state, record.repeats());
    if (record.kind() == events::Kind::kAccess) {
      on_access(thread, state, record);
    } else {
      on_other(thread, state, record);
    }
  }
}

void Analysis::prefetch_ahead(std::span<const events::Record> records, size_t at) const {
  if (at + kMapAhead >= records.size()) return;
  map_.prefetch(records[at + kMapAhead].address());
  const base::ObjectId id = map_.find(records[at + kObjectAhead].address());
  __builtin_prefetch(&objects_[id]);
}

inline void Analysis::on_repeats(base::ThreadId thread, const ThreadState& state, uint32_t count) {
  if (state.accessed_tracked) emit(RepeatEvent{thread, count, state.weight});
  if (all_accesses_) emit(MemoryRepeatEvent{thread, count});
}

inline void Analysis::on_access(base::ThreadId thread, ThreadState& state,
                                const events::Record& record) {
  ++accesses_seen_;
  const base::ObjectId id = map_.find(record.address());
  const Object& object = objects_[id];
  const uint64_t offset = record.address() - object.address;
  // A stale or empty (id 0, size 0) entry of the map fails this test.
  state.accessed_tracked = offset < object.size && !object.freed;
  if (all_accesses_) {
    emit(MemoryEvent{.thread = thread,
                     .object = state.accessed_tracked ? &object : nullptr,
                     .code = record.word1,
                     .address = record.address(),
                     .size = record.size(),
                     .store = record.store()});
  }
  if (!state.accessed_tracked) return;
  emit(AccessEvent{.thread = thread,
                   .id = id,
                   .object = &object,
                   .code = record.word1,
                   .offset = uint32_t(offset),
                   .size = record.size(),
                   .alignment = events::alignment_of_class(record.alignment_class()),
                   .store = record.store(),
                   .weight = state.weight});
}

void Analysis::on_other(base::ThreadId thread, ThreadState& state, const events::Record& record) {
  switch (record.kind()) {
    case events::Kind::kAlloc:
      state.alloc_address = record.address();
      state.alloc_size = record.word1;
      break;
    case events::Kind::kContext:
      allocate(thread, state, base::NodeId{uint32_t(record.word1)});
      break;
    case events::Kind::kFree:
      free(thread, state, record.address());
      break;
    case events::Kind::kRevive:
      if (base::index(state.freed) == 0) break;
      objects_.revive(state.freed);
      emit(ReviveEvent{thread, state.freed, &objects_[state.freed]});
      break;
    case events::Kind::kAligned: {
      const Object& object = objects_[map_.find(record.address())];
      if (is_alive_at(object, record.address())) emit(AlignedEvent{&object});
      break;
    }
    case events::Kind::kReallocated: {
      const Object& object = objects_[map_.find(record.address())];
      if (is_alive_at(object, record.address()) && state.freed_number != 0)
        emit(ReallocatedEvent{&object, state.freed_number});
      break;
    }
    case events::Kind::kThreadEnd:
      emit(ThreadEndEvent{thread});
      state = {.weight = weight_};
      break;
    case events::Kind::kHugePages:
      if (all_accesses_) emit(HugePagesEvent{record.address(), record.word1});
      break;
    case events::Kind::kOfStream:
      break;
    case events::Kind::kPhase:
      emit(PhaseEvent{record.word1 != 0});
      break;
    case events::Kind::kBurst:
      begin_burst(thread, events::BurstScope(record.address()), record.word1);
      break;
    case events::Kind::kAccess:
    case events::Kind::kEpoch:
    case events::Kind::kFlush:
      break;
  }
}

void Analysis::begin_burst(base::ThreadId thread, events::BurstScope scope, uint64_t weight) {
  if (scope == events::BurstScope::kAllThreads) {
    weight_ = weight;
    for (ThreadState& state : threads_) state.weight = weight;
    return emit(BurstEvent{{}, weight == 1});
  }
  threads_[base::index(thread)].weight = weight;
  if (scope != events::BurstScope::kGoesOn)
    emit(BurstEvent{thread, scope == events::BurstScope::kThreadExact});
}

void Analysis::allocate(base::ThreadId thread, ThreadState& state, base::NodeId node) {
  if (state.alloc_size > parameters_.max_object_size) {
    ++untracked_;
    objects_.skip();
    return;
  }
  const base::ContextId context = context_of(node);
  const uint32_t size = uint32_t(state.alloc_size);
  const base::ObjectId id = objects_.add(state.alloc_address, size, context);
  if (base::index(id) == 0 || !map_.put(state.alloc_address, size, id)) {
    ++untracked_;
    return;
  }
  emit(AllocEvent{thread, id, &objects_[id]});
  if (objects_.take_sweep_due()) emit(ReuseEvent{});
}

void Analysis::free(base::ThreadId thread, ThreadState& state, uint64_t address) {
  const base::ObjectId id = map_.find(address);
  const Object& object = objects_[id];
  // Objects that are not tracked are freed too.
  state.freed = base::ObjectId{0};
  state.freed_number = 0;
  if (base::index(id) == 0 || object.freed || object.address != address) return;
  state.freed = id;
  state.freed_number = object.seq;
  emit(FreeEvent{thread, id, &object});
  objects_.free(id);
  if (objects_.take_sweep_due()) emit(ReuseEvent{});
}

base::ContextId Analysis::context_of(base::NodeId node) {
  const uint32_t at = base::index(node);
  if (at >= context_of_node_.size()) context_of_node_.resize(at + at / 2 + 1);
  uint32_t& entry = context_of_node_[at];
  if (entry == 0) {
    context_nodes_.push_back(node);
    entry = uint32_t(context_nodes_.size());
  }
  return base::ContextId{entry - 1};
}

}  // namespace halo::sinks
