// A plan must be refused with a sentence, or served.
#include "fuzz/plan_target.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/crc32.h"
#include "fuzz/core.h"
#include "fuzz/finding.h"
#include "fuzz/plan_mutator.h"
#include "fuzz/real_stack.h"
#include "fuzz/reference_walk.h"
#include "fuzz/synthetic_stack.h"
#include "plan/plan_file.h"
#include "runtime/base/active_plan.h"
#include "runtime/code/alignment.h"
#include "runtime/extra.h"
#include "runtime/extra/random_pools.h"
#include "runtime/extra/redirect/selectors.h"
#include "runtime/extra/spans/span_heap.h"
#include "runtime/identify/identifier.h"
#include "runtime/modules/modules.h"

namespace halo::fuzz {
namespace {

using plan::PlanView;
using runtime::Verdict;

constexpr uintptr_t kUserAddresses = uintptr_t{1} << 47;

// It is printed to stderr and into JSON without escaping.
bool is_sentence(std::string_view text) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  return text.starts_with("the ") && text.size() < 100 &&
         std::all_of(text.begin(), text.end(), printable);
}

// Memory for a table, followed by a page that may not be accessed.
class FencedMemory {
 public:
  explicit FencedMemory(size_t bytes) {
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    mapped_ = pages + kPage;
    whole_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    require(whole_ != MAP_FAILED, "no memory for a table");
    require(mprotect(whole_ + pages, kPage, PROT_NONE) == 0, "no fence behind a table");
    begin_ = whole_ + (pages - bytes) / 16 * 16;
  }
  ~FencedMemory() { munmap(whole_, mapped_); }
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  void* get() const { return begin_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t mapped_;
  char* whole_;
  char* begin_;
};

// Writes return addresses along a random path down the trie, each at its predecessor's distance,
// with occasional recursion.
class StackWriter {
 public:
  StackWriter(SyntheticStack& stack, std::span<const plan::State> states,
              const ReferenceWalk& reference, Random& random)
      : stack_(stack), states_(states), reference_(reference), random_(random) {}

  // Returns rbp at the innermost call.
  uintptr_t write() {
    uintptr_t here = reinterpret_cast<uintptr_t>(stack_.bottom());
    rbp_ = random_() % 2 == 0 ? here + 8 * (random_() % 64) : random_();
    uint32_t state = 0, last = 0;
    for (int depth = 0; depth < 40; ++depth) {
      if (state != 0 && random_() % 4 == 0) {
        last = ancestor(state);
      } else {
        last = state = some_child(state);
      }
      if (last == 0 || !stack_.write(here, reference_.address(last))) break;
      if (!advance(states_[last], here)) break;
    }
    return rbp_home_ == 0 ? rbp_ : first_rbp_;
  }

 private:
  uint32_t some_child(uint32_t parent) {
    const size_t count = states_.size();
    const size_t from = random_() % count;
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<uint32_t>((from + i) % count);
      if (at != 0 && states_[at].parent == parent && reference_.address(at) != 0) return at;
    }
    return 0;
  }

  uint32_t ancestor(uint32_t state) {
    for (uint64_t up = random_() % 4; up != 0 && states_[state].parent != 0; --up)
      state = states_[state].parent;
    return state;
  }

  bool advance(const plan::State& from, uintptr_t& here) {
    if (from.rule == plan::Rule::kEnd) return false;
    uintptr_t next = here + static_cast<uintptr_t>(intptr_t{from.step});
    if (from.rule == plan::Rule::kFramePointer) {
      next = here + 8 * (1 + random_() % 32);
      choose_rbp(next - static_cast<uintptr_t>(intptr_t{from.step}));
    }
    if ((from.flags & plan::kStateRestoresRbp) != 0) {
      if (rbp_home_ == 0) first_rbp_ = rbp_;
      rbp_home_ = next - static_cast<uintptr_t>(intptr_t{from.rbp_below});
    }
    here = next;
    return true;
  }

  // The register as a frame-pointer rule reads it: the initial value, or the one that a frame has
  // saved.
  void choose_rbp(uintptr_t value) {
    if (rbp_home_ == 0)
      rbp_ = value;
    else
      stack_.write(rbp_home_, value);
  }

  SyntheticStack& stack_;
  std::span<const plan::State> states_;
  const ReferenceWalk& reference_;
  Random& random_;
  uintptr_t rbp_ = 0;
  uintptr_t first_rbp_ = 0;
  uintptr_t rbp_home_ = 0;  // address of the saved rbp; 0: in the register
};

void walk_synthetic_stacks(const PlanView& view, const runtime::Table& table,
                           std::span<const runtime::ModulePlace> places, Random& random) {
  static SyntheticStack stack;
  const ReferenceWalk reference(view.states, places);
  for (int i = 0; i < 8; ++i) {
    const uintptr_t rbp = StackWriter(stack, view.states, reference, random).write();
    if (*stack.bottom() != 0 && *stack.bottom() < kUserAddresses) {
      const Verdict expected = reference.walk(stack.bottom(), rbp);
      const Verdict found = core_walk(table, stack.bottom(), rbp);
      require(found.group == plan::kVerdictForward || found.group < view.groups.size(),
              "the walk leads to a group that the plan lacks");
      require(reference.ambiguous() || found.group == expected.group,
              "the walk does not follow the page");
      require(reference.ambiguous() || found.group == plan::kVerdictForward ||
                  (found.alignment == 16) == (expected.alignment == 16),
              "the walk gives another alignment than the plan");
    }
    stack.clear();
  }
}

// With one table, while the modules are at changing addresses, or unloaded.
void walk_while_modules_move(const PlanView& view, Random& random) {
  constexpr uintptr_t kPage = 4096;
  std::vector<runtime::ModulePlace> places(view.modules.size());
  const FencedMemory memory(runtime::table_bytes(view.states.size(), places.size()));
  runtime::Table& table = *runtime::make_table(view.states, places.size(), memory.get());
  for (int move = 0; move < 3; ++move) {
    for (uint32_t i = 0; i < places.size(); ++i) {
      runtime::remove_module(table, i);
      const uintptr_t bias = random() % 4 == 0 ? (random() >> 18) / kPage : random() % 64;
      places[i] = {(1 + bias) * kPage, random() % 8 != 0};
    }
    for (uint32_t i = 0; i < places.size(); ++i)
      if (places[i].present) runtime::place_module(table, i, places[i].bias);
    walk_synthetic_stacks(view, table, places, random);
  }
  for (uint32_t i = 0; i < places.size(); ++i) runtime::remove_module(table, i);
}

// An active site by the definition of decision 6, for a stack of `words` from `here` on.
bool is_really_active(const std::vector<uintptr_t>& words, size_t here,
                      const runtime::SiteAddress& site, size_t at, uintptr_t caller) {
  if (site.immediate) return words[here] == site.address;
  if (at < here || words[at] != site.address) return false;
  const size_t above = at + site.step / 8;
  return site.step == 0 || (above < words.size() && words[above] == caller);
}

// Return addresses of sites on a synthetic stack, some of them overwritten or with another caller.
void evaluate_selectors(const PlanView& view, Random& random) {
  std::vector<uintptr_t> words(200);
  std::vector<runtime::SiteAddress> sites;
  std::vector<size_t> noted;
  runtime::ActiveSites active{};
  active.low = reinterpret_cast<uintptr_t>(words.data());
  active.high = active.low + words.size() * 8;
  for (auto& word : words) word = 1 + random() % 4;
  for (size_t i = 0; i < view.sites.size(); ++i) {
    const bool immediate = (view.sites[i].flags & plan::kSiteImmediate) != 0;
    sites.push_back({0x1000 + 16 * i, view.sites[i].step, immediate});
    noted.push_back(random() % words.size());
    const size_t at = noted.back();
    if (random() % 4 != 0) words[at] = sites[i].address;
    active.sites[i] = {active.low + at * 8, 1 + random() % 4};
  }
  const size_t here = random() % words.size();
  const plan::Conjunction* expected = nullptr;
  for (const plan::Conjunction& c : view.conjunctions) {
    const bool holds = std::all_of(c.sites, c.sites + c.count, [&](uint16_t site) {
      return is_really_active(words, here, sites[site], noted[site], active.sites[site].caller);
    });
    if (holds && expected == nullptr) expected = &c;
  }
  const auto* found =
      runtime::first_holding(view.conjunctions, sites.data(), active, words.data() + here);
  require(found == expected, "another conjunction holds than in decision 6");
}

void use_group(uint32_t group, uint32_t max_object) {
  for (const size_t wanted : {0u, 1u, 24u, 4096u, max_object}) {
    const size_t size = std::min<size_t>(wanted, max_object);
    void* p = core_allocate(group, size, wanted % 3 == 0 ? 16 : 0, wanted % 2 == 0);
    if (p == nullptr) continue;  // more groups than the arena has room for
    const size_t usable = core_size_of(p);
    require(usable >= size, "a block is smaller than requested");
    const char* problem = core_placement_problem(p, usable);
    require(problem == nullptr, problem);
    std::memset(p, 1, usable);
    core_deallocate(p);
  }
}

void use_spans(uint32_t group) {
  for (const size_t size : {runtime::kSpanUnit + 1, size_t{300'000}}) {
    const runtime::Span span = runtime::allocate_span(static_cast<uint16_t>(group), size);
    if (span.p == nullptr) continue;
    require(runtime::span_heap.usable_size(span.p) >= size, "a span is smaller than requested");
    std::memset(span.p, 1, size);
    runtime::span_heap.free(span.p);
    require(runtime::span_heap.usable_size(span.p) == 0, "a freed span has a size");
  }
}

// A thread whose stack is at the bottom of a large mapping, into which wrong distances of a plan
// lead.
void* walk_and_allocate(void* argument) {
  const auto& view = *static_cast<const PlanView*>(argument);
  const Verdict verdict = walk_real_stack(*runtime::current_table);
  if (verdict.group == plan::kVerdictForward) return nullptr;
  require(verdict.group < view.groups.size(), "the walk leads to a group that the plan lacks");
  use_group(verdict.group, view.header->max_object);
  return nullptr;
}

void walk_a_real_stack(PlanView& view) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  require(pthread_attr_setstack(&attributes, map_stack_space(), 256 * 1024) == 0,
          "no stack for a thread");
  pthread_t thread;
  require(pthread_create(&thread, &attributes, walk_and_allocate, &view) == 0, "no thread");
  pthread_join(thread, nullptr);
}

void draw_groups(const PlanView& view) {
  const auto groups = static_cast<uint32_t>(view.groups.size());
  runtime::random_pools = groups;
  runtime::align_pools(view.states[0].alignment == 16);
  for (int i = 0; i < 64; ++i) {
    const runtime::CallerCode code = runtime::draw_pool();
    require(runtime::is_decided(code) && runtime::group_of(code) < groups,
            "a group is drawn that the plan lacks");
    use_group(runtime::group_of(code), view.header->max_object);
  }
}

// A process under this plan, from its file on.
void serve(std::span<const std::byte> bytes) {
  const int file = memfd_create("plan", MFD_CLOEXEC);
  require(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "the plan cannot be written");
  PlanView& view = runtime::active_plan;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const char* problem = plan::load_plan(path.c_str(), view);
  require(problem == nullptr, "a plan is good in memory and bad in a file");
  if (view.groups.empty()) return;
  const bool published = !view.draws_pools() && runtime::publish_table() != 0;
  if (!published)
    require(open_core(view.groups, view.header->max_object, size_t{1} << 30),
            "the heaps cannot be opened");
  const auto groups = static_cast<uint32_t>(view.groups.size());
  runtime::begin_spans();
  for (uint32_t group = 0; group < groups; ++group) {
    if (group >= 32 && group + 32 < groups) continue;
    use_group(group, view.header->max_object);
    if (runtime::has_spans) use_spans(group);
  }
  if (view.draws_pools()) return draw_groups(view);
  walk_a_real_stack(view);
}

void serve_in_a_child(std::span<const std::byte> bytes) {
  const pid_t child = fork();
  require(child >= 0, "fork failed");
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(20);
    serve(bytes);
    _exit(0);
  }
  const int status = status_of(child);
  require(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "a process under the plan hangs");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process under the plan crashed");
}

void run(std::span<const uint8_t> input) {
  // Aligned like a mapping.
  std::vector<uint64_t> aligned((input.size() + 7) / 8);
  if (!input.empty()) std::memcpy(aligned.data(), input.data(), input.size());
  const auto file = std::as_bytes(std::span(aligned)).first(input.size());
  PlanView view;
  if (const char* problem = plan::validate(file, view)) {
    require(is_sentence(problem), "a plan is refused with something else than a sentence");
    require(view.header == nullptr, "a refused plan is handed out");
    return;
  }
  runtime::all_to_16 = false;  // as if each plan had checked all modules
  Random random(base::crc32(file));
  walk_while_modules_move(view, random);
  for (int i = 0; i < 8; ++i) evaluate_selectors(view, random);
  serve_in_a_child(file);
}

Input make(Random& random) {
  const Input plan = make_plan(random);
  return random() % 8 == 0 ? plan : mutate_plan(plan, random);
}

}  // namespace

constinit const Target kPlanTarget{"plan", 500, make, run};

}  // namespace halo::fuzz
