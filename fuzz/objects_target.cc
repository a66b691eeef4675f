// An object trace must be refused with a sentence, or replayed in every order.
#include "fuzz/objects_target.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz/finding.h"
#include "fuzz/trace_maker.h"
#include "plan/plan_file.h"
#include "recorder/objects/allocator_accesses.h"
#include "recorder/objects/trace_reader.h"
#include "recorder/objects/trace_writer.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/order_file.h"
#include "studies/layouts/orders.h"
#include "studies/layouts/packing.h"
#include "studies/layouts/replay.h"
#include "studies/search/candidate.h"
#include "studies/search/stored_trace.h"
#include "tracing/format/synthetic_trace.h"

namespace halo::fuzz {
namespace {

using base::ContextId;
using base::ThreadId;

enum Kind { kFile, kBlock, kCandidate, kKinds };
constexpr uint64_t kMaxObjects = 3000;  // for orders, which take longer than linear time

bool is_sentence(std::string_view text) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return !text.empty() && text.size() < 160 && std::ranges::all_of(text, printable);
}

template <class Visitor>
void read(const std::string& path, Visitor& visitor) {
  objects::TraceReader reader(path);
  objects::read_with_blocks(reader, visitor);
}

// Counts accesses, and repeats behind the first of them.
class Counter : public objects::Visitor {
 public:
  void access(ThreadId, uint64_t, uint32_t, uint32_t, bool) { ++count_; }
  void access_outside(ThreadId, uint64_t, uint32_t, bool) { ++count_; }
  void repeat(ThreadId, uint64_t count) { count_ += count_ != 0 ? count : 0; }

  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
};

// Every access is counted, wherever its object is.
void replay(const std::string& path, const std::vector<uint64_t>& addresses, uint64_t accesses) {
  layout::Replay replay(simulator::typical_machine(), addresses);
  read(path, replay);
  require(replay.misses().accesses == accesses, "a replay has another number of accesses");
}

template <class Write>
void write_to_null(const Write& write) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen("/dev/null", "w"), fclose);
  write(file.get());
}

void replay_orders(const std::string& path, layout::FactsReader& facts, uint64_t accesses) {
  if (facts.facts().size() > kMaxObjects) return;
  const layout::Graph graph = facts.take_graph();
  const std::vector<uint32_t> hubs = layout::find_hubs(graph);
  const layout::Communities communities = layout::find_communities(layout::without(graph, hubs));
  const layout::Subject subject{facts.facts(), facts.numbers(), communities, hubs};
  for (const layout::NamedOrder& named : layout::kOrders) {
    const layout::Order order = named.make(subject);
    require(order.size() >= facts.numbers().size(), "an order lacks an accessed object");
    for (const layout::Packing& packing : layout::kPackings)
      replay(path, layout::pack(subject, order, named.key, packing), accesses);
  }
  write_to_null([&](FILE* file) { layout::write_order(layout::hml(subject), subject, file); });
}

void replay_all(const std::string& path) {
  Counter counter;
  objects::TraceReader(path).read(counter);
  layout::FactsReader facts(2);
  read(path, facts);
  std::vector<uint64_t> recorded;
  for (const layout::ObjectFacts& one : facts.facts()) recorded.push_back(one.address);
  replay(path, recorded, counter.count());
  predict::StoredTrace stored(1);
  read(path, stored);
  require(stored.kept() == stored.accesses(), "a stored trace lacks accesses");
  for (const predict::StoredEvent& event : stored.events())
    require(event.kind() == predict::StoredEvent::Kind::kOutside ||
                event.number() < stored.objects().size(),
            "a stored event is of an unknown object");
  replay_orders(path, facts, counter.count());
}

void read_file(std::string_view bytes) {
  const trace::MemoryFile file(bytes);
  try {
    replay_all("/proc/self/fd/" + std::to_string(file.descriptor()));
  } catch (const std::runtime_error& error) {
    require(is_sentence(error.what()), "a trace is refused with something else than a sentence");
  }
}

// A file with one block: the number of operations in 4 bytes, then operations and operands.
std::string packed(std::string_view bytes) {
  uint32_t ops = 0;
  std::memcpy(&ops, bytes.data(), std::min(sizeof ops, bytes.size()));
  bytes.remove_prefix(std::min(sizeof ops, bytes.size()));
  ops = uint32_t(std::min<size_t>(ops, bytes.size()));
  std::string payload(ZSTD_compressBound(bytes.size()), 0);
  payload.resize(ZSTD_compress(payload.data(), payload.size(), bytes.data(), bytes.size(), 1));
  const objects::FileHead head;
  objects::BlockHead block{
      .ops = ops, .operands = uint32_t(bytes.size()) - ops, .packed = uint32_t(payload.size())};
  block.check = XXH64(payload.data(), payload.size(), bytes.size());
  const auto text = [](const auto& part) {
    return std::string(reinterpret_cast<const char*>(&part), sizeof part);
  };
  return text(head) + text(block) + payload;
}

void parse_line(std::string_view line) {
  predict::Candidate found;
  if (!predict::parse_candidate(line, found)) return;
  for (const plan::Group& group : found.groups)
    require(plan::check_group(group, plan::kGroupFlags) == nullptr, "a bad group is accepted");
  for (const predict::Verdict& verdict : found.verdicts)
    require(verdict.group == plan::kVerdictForward || verdict.group < found.groups.size(),
            "a verdict names a group that is not there");
}

void run(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  const std::string text(rest.begin(), rest.end());
  switch (input[0] % kKinds) {
    case kFile:
      return read_file(text);
    case kBlock:
      return read_file(packed(text));
    default:
      return parse_line(text);
  }
}

// Writes objects of a few contexts, and accesses to them, by several threads.
void write_events(objects::TraceWriter& writer, Random& random) {
  std::vector<objects::Allocation> alive;
  uint64_t number = 0;
  for (auto events = random() % 300; events != 0; --events) {
    const ThreadId thread{uint32_t(random() % 3)};
    const auto size = uint32_t(random() % 8 == 0 ? 1 + random() % 100 : 1u << random() % 5);
    switch (random() % 10) {
      case 0:
      case 1:
        number += random() % 5 == 0 ? 1 + random() % 50 : 1;
        alive.push_back({number, 0x10000 + number * 64 * (random() % 2), uint32_t(random() % 500),
                         ContextId{uint32_t(random() % 6)}});
        writer.allocate(alive.back());
        if (random() % 8 == 0) writer.align(number);
        if (random() % 8 == 0) writer.reallocate(number, alive.front().number);
        break;
      case 2:
        if (alive.empty()) break;
        writer.free(alive.back().number);
        if (random() % 4 == 0)
          writer.revive(alive.back().number);
        else
          alive.pop_back();
        break;
      case 3:
        writer.access_outside(thread, 0x10000 + random() % 100000, size, random() % 2 == 0);
        break;
      case 4:
        writer.repeat(thread, uint32_t(random() % 200));
        break;
      case 5:
        if (random() % 10 == 0) writer.huge_pages(random() % (1 << 30), random() % (1 << 26));
        if (random() % 10 == 0) writer.phase(random() % 50, 50 + random() % 50);
        break;
      default:
        if (alive.empty()) break;
        const objects::Allocation& one = alive[random() % alive.size()];
        writer.access(thread, one, uint32_t(random() % (one.size + 1)), size, random() % 2 == 0);
    }
  }
}

std::string make_file(Random& random) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("halo-fuzz-objects-" + std::to_string(getpid()));
  {
    objects::TraceWriter writer(path);
    write_events(writer, random);
    writer.finish();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return content;
}

// The operations and operands of the first block of a file, as `packed` takes them.
std::string unpacked(const std::string& file) {
  objects::BlockHead head;
  if (file.size() < sizeof(objects::FileHead) + sizeof head) return {};
  std::memcpy(&head, &file[sizeof(objects::FileHead)], sizeof head);
  if (head.kind != objects::BlockKind::kEvents) return {};
  std::string both(size_t{head.ops} + head.operands, 0);
  ZSTD_decompress(both.data(), both.size(), &file[sizeof(objects::FileHead) + sizeof head],
                  head.packed);
  return std::string(reinterpret_cast<const char*>(&head.ops), sizeof head.ops) + both;
}

Input make(Random& random) {
  constexpr const char* kLines[] = {"plan 4096 2 0:0:0 2:1:0 - 1 0+ -", "all 64 1 0:0:0 0+",
                                    "masked 4096 1 6:0:255 0 -"};
  const uint8_t kind = random() % 8 == 0 ? uint8_t{kCandidate} : uint8_t(random() % kCandidate);
  std::string text;
  if (kind == kFile) text = make_file(random);
  if (kind == kBlock) text = unpacked(make_file(random));
  if (kind == kCandidate) text = kLines[random() % std::size(kLines)];
  if (random() % 8 != 0) change(text, random);
  text.insert(text.begin(), char(kind));
  return Input(text.begin(), text.end());
}

}  // namespace

constinit const Target kObjectsTarget{"objects", 50, make, run};

}  // namespace halo::fuzz
