// The QEMU plugin that counts executed instructions between two markers inside one range of code.
#include <array>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "golden/markers.h"
#include "qemu/qemu_plugin_api.h"
#include "x86/instruction.h"

// At the end it writes to `out=FILE` a line for each path and each of its costs: path, number of
// runs, instructions, loads, stores, branches.
namespace {

using halo::golden::Marker;
using halo::golden::path_count;
using halo::golden::path_names;

struct Cost {
  std::uint64_t instructions, loads, stores, branches;
  auto operator<=>(const Cost&) const = default;
};

// The program has one thread, so no locks are needed.
std::string out;
std::uint64_t text_begin = 0, text_end = 0;
bool counting = false;
std::uint64_t path = 0;
Cost cost{};
std::array<std::map<Cost, std::uint64_t>, path_count> taken;

// An instruction's address, and whether it is a branch, packed into the callbacks' pointer
// argument.
struct Site {
  static void* pack(std::uint64_t address, bool branch) {
    return reinterpret_cast<void*>(address << 1 | (branch ? 1u : 0u));
  }
  explicit Site(void* packed) : bits(reinterpret_cast<std::uint64_t>(packed)) {}
  bool counts() const { return counting && bits >> 1 >= text_begin && bits >> 1 < text_end; }
  bool branch() const { return (bits & 1) != 0; }
  std::uint64_t bits;
};

void on_instruction(unsigned, void* packed) {
  const Site site(packed);
  if (!site.counts()) return;
  ++cost.instructions;
  if (site.branch()) ++cost.branches;
}

// Registered for loads and stores together: QEMU 7.2 confuses them if only one kind is requested.
void on_access(unsigned, qemu_plugin_meminfo_t info, std::uint64_t, void* packed) {
  if (!Site(packed).counts()) return;
  ++(qemu_plugin_mem_is_store(info) ? cost.stores : cost.loads);
}

bool is_branch(qemu_plugin_insn* insn) {
  using halo::x86::Flow;
  const auto* bytes = static_cast<const std::uint8_t*>(qemu_plugin_insn_data(insn));
  const Flow flow = halo::x86::inspect({bytes, qemu_plugin_insn_size(insn)}).flow;
  return flow == Flow::kJump || flow == Flow::kCall || flow == Flow::kReturn;
}

void on_translate(qemu_plugin_id_t, qemu_plugin_tb* block) {
  for (std::size_t at = 0; at < qemu_plugin_tb_n_insns(block); ++at) {
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(block, at);
    void* site = Site::pack(qemu_plugin_insn_vaddr(insn), is_branch(insn));
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS, site);
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     site);
  }
}

void on_syscall(qemu_plugin_id_t, unsigned, std::int64_t number, std::uint64_t marker,
                std::uint64_t a, std::uint64_t b, std::uint64_t, std::uint64_t, std::uint64_t,
                std::uint64_t, std::uint64_t) {
  if (number != halo::golden::marker_call) return;
  switch (static_cast<Marker>(marker)) {
    case Marker::text:
      text_begin = a;
      text_end = b;
      return;
    case Marker::begin:
      path = a;
      cost = {};
      counting = path < path_count;
      return;
    case Marker::end:
      if (counting) ++taken[path][cost];
      counting = false;
      return;
  }
}

void on_exit(qemu_plugin_id_t, void*) {
  std::FILE* file = std::fopen(out.c_str(), "w");
  if (file == nullptr) return std::perror(out.c_str());
  for (std::size_t i = 0; i < path_count; ++i)
    for (const auto& [each, times] : taken[i])
      std::fprintf(file, "%s %lu %lu %lu %lu %lu\n", path_names[i], times, each.instructions,
                   each.loads, each.stores, each.branches);
  std::fclose(file);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t*, int argc,
                                                               char** argv) {
  const std::string_view argument = argc == 1 ? argv[0] : "";
  if (!argument.starts_with("out=")) {
    std::fputs("golden-counter: needs the one argument out=FILE\n", stderr);
    return 1;
  }
  out = argument.substr(4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
}
