// glibc's functions about the allocator's memory: the next library's answer, and the groups' memory
// added to it. Blocks of groups count as memory of an arena, spans as blocks that are mapped one by
// one, so that in every answer the bytes in use and the free ones make up the bytes of the arenas.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "base/keep_errno.h"
#include "base/module_bounds.h"
#include "runtime/accounting/grouped_memory.h"
#include "runtime/accounting/malloc_info_text.h"
#include "runtime/accounting/next_statistics.h"
#include "runtime/base/exports.h"
#include "runtime/serve/grouped.h"

namespace {

using halo::runtime::grouped_totals;
using halo::runtime::GroupedTotals;
using halo::runtime::next_statistics;
using halo::runtime::NextStatistics;

// The fields of mallinfo are too small for large heaps, and overflow as glibc's do.
template <typename Info>
Info with_groups(Info info) {
  const auto [blocks, spans, span_count] = grouped_totals();
  const auto add = [](auto& field, uint64_t more) {
    field =
        static_cast<std::remove_reference_t<decltype(field)>>(static_cast<uint64_t>(field) + more);
  };
  add(info.arena, blocks.active);
  add(info.uordblks, blocks.live);
  add(info.fordblks, blocks.active - blocks.live);
  add(info.hblks, span_count);
  add(info.hblkhd, spans.live);
  return info;
}

// What a C library without mallinfo2 knows, up to 4 GiB in each field.
HaloMallinfo2 widened(const HaloMallinfo& info) {
  const auto widen = [](int field) { return size_t{static_cast<unsigned>(field)}; };
  return {widen(info.arena),    widen(info.ordblks), widen(info.smblks),  widen(info.hblks),
          widen(info.hblkhd),   widen(info.usmblks), widen(info.fsmblks), widen(info.uordblks),
          widen(info.fordblks), widen(info.keepcost)};
}

bool has_groups(const GroupedTotals& grouped) {
  return grouped.blocks.mapped + grouped.spans.mapped != 0;
}

void print_totals(const char* title, uint64_t system, uint64_t in_use) {
  std::fprintf(stderr, "%s:\nsystem bytes     = %10lu\nin use bytes     = %10lu\n", title, system,
               in_use);
}

}  // namespace

extern "C" {

HALO_EXPORTED_FUNCTIONS(HALO_DECLARE)

HaloMallinfo mallinfo() noexcept {
  const auto of_next = next_statistics().mallinfo;
  return with_groups(of_next == nullptr ? HaloMallinfo{} : of_next());
}

HaloMallinfo2 mallinfo2() noexcept {
  const NextStatistics& next = next_statistics();
  if (next.mallinfo2 != nullptr) return with_groups(next.mallinfo2());
  return with_groups(next.mallinfo == nullptr ? HaloMallinfo2{} : widened(next.mallinfo()));
}

int malloc_info(int options, std::FILE* stream) noexcept {
  const auto of_next = next_statistics().malloc_info;
  const GroupedTotals grouped = grouped_totals();
  if (of_next == nullptr) return -1;
  if (!has_groups(grouped)) return of_next(options, stream);
  char* text = nullptr;
  size_t length = 0;
  std::FILE* const memory = open_memstream(&text, &length);
  if (memory == nullptr) return of_next(options, stream);
  const int status = of_next(options, memory);
  const bool is_whole = std::fclose(memory) == 0;
  if (is_whole) halo::runtime::write_malloc_info(stream, {text, length}, grouped);
  halo::runtime::release(text);
  return is_whole ? status : of_next(options, stream);
}

void malloc_stats() noexcept {
  const NextStatistics& next = next_statistics();
  if (next.malloc_stats != nullptr) next.malloc_stats();
  const GroupedTotals grouped = grouped_totals();
  if (!has_groups(grouped)) return;
  const auto& [blocks, spans, span_count] = grouped;
  print_totals("Groups", blocks.active + spans.live, blocks.live + spans.live);
  const auto* const stats = reinterpret_cast<void*>(next.malloc_stats);
  if (!halo::same_module(stats, reinterpret_cast<void*>(next.mallinfo2))) return;
  const HaloMallinfo2 sum = with_groups(next.mallinfo2());
  print_totals("Total (incl. mmap and groups)", sum.arena + sum.hblkhd, sum.uordblks + sum.hblkhd);
}

int malloc_trim(size_t pad) noexcept {
  const halo::KeepErrno keep;
  const auto of_next = next_statistics().malloc_trim;
  const bool purged = halo::runtime::purge_grouped_memory() != 0;
  const int status = of_next == nullptr ? 0 : of_next(pad);
  return purged ? 1 : status;
}

}  // extern "C"
