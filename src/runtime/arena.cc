// The range: where it lies, growth, opening by 2 MiB, and pages given back.
#include "runtime/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>

#include "base/keep_errno.h"
#include "runtime/free_block.h"

namespace halo::runtime {
namespace {

constexpr std::size_t smallest_reserve = std::size_t{64} << 20;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + system_page - 1) & ~(system_page - 1);
}

// The range grows by an eighth of what it is, so that little address space is taken in vain.
constexpr std::size_t least_growth = 2 * slab_size;
constexpr std::size_t most_growth = std::size_t{1} << 30;

// Address space that a limited process can spare: an eighth of its limit.
std::size_t affordable(std::size_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const std::size_t share = (limit.rlim_cur / 8) & ~(slab_size - 1);
  return share < wanted ? share : wanted;
}

void* reserve_range(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

bool open_range(void* from, std::size_t bytes) {
  return mprotect(from, bytes, PROT_READ | PROT_WRITE) == 0;
}

void raise(std::uint64_t& place, std::uint64_t to) {
  std::uint64_t now = __atomic_load_n(&place, __ATOMIC_RELAXED);
  while (now < to && !__atomic_compare_exchange_n(&place, &now, to, false, __ATOMIC_RELEASE,
                                                  __ATOMIC_RELAXED)) {
  }
}

}  // namespace

constinit Arena arena;

bool Arena::reserve(std::size_t wanted) {
  draw_link_secret();
  const std::size_t most = affordable(wanted) & ~(smallest_reserve - 1);
  if (most < smallest_reserve) return false;
  if (!begin_growing(most)) return reserve_at_once(most);
  // Opened at once: it serves on where a filter that comes later allows no more system calls.
  is_first_open_ = open_range(reinterpret_cast<void*>(base_), slab_size);
  return true;
}

// Of one table, where the range has so many bytes.
std::size_t Arena::table_bytes(Table table, std::size_t bytes) const {
  switch (table) {
    case Table::pages:
      return whole_pages(bytes / page_size * sizeof(Page));
    case Table::bits:
      return whole_pages(bytes / granule / 64 * sizeof(BlockBits));
    case Table::slabs:
      return whole_pages(bytes / slab_size * sizeof(Slab));
    case Table::available:
      return whole_pages((bytes / slab_size + 63) / 64 * sizeof(std::uint64_t));
    default:
      return whole_pages(bytes / granule / 8);
  }
}

std::size_t Arena::all_table_bytes(std::size_t bytes) const {
  std::size_t sum = 0;
  for (unsigned i = 0; i < table_count; ++i) sum += table_bytes(static_cast<Table>(i), bytes);
  return sum;
}

// The range and, behind it, its tables, of which so many bytes are mapped already.
void Arena::place(std::uintptr_t base, std::size_t most, std::size_t mapped) {
  base_ = base;
  most_ = most;
  memory_range_.set(base, mapped, PROT_NONE);
  std::uintptr_t begin[table_count], at = base + most;
  for (unsigned i = 0; i < table_count; ++i) {
    const auto table = static_cast<Table>(i);
    begin[i] = at;
    tables_[i].set(at, mapped == 0 ? 0 : table_bytes(table, mapped), PROT_READ | PROT_WRITE);
    at += table_bytes(table, most);
  }
  const auto of = [&](Table table) {
    return reinterpret_cast<void*>(begin[static_cast<unsigned>(table)]);
  };
  pages_ = static_cast<Page*>(of(Table::pages));
  bits_ = static_cast<BlockBits*>(of(Table::bits));
  bits_of_address_0_ =
      begin[static_cast<unsigned>(Table::bits)] - base / (64 * granule) * sizeof(BlockBits);
  starts_of_address_0_ =
      begin[static_cast<unsigned>(Table::starts)] - base / (64 * granule) * sizeof(std::uint64_t);
  starts_ = static_cast<std::atomic<std::uint64_t>*>(of(Table::starts));
  pool_.place_at(static_cast<Slab*>(of(Table::slabs)),
                 static_cast<std::atomic<std::uint64_t>*>(of(Table::available)));
}

bool Arena::begin_growing(std::size_t most) {
  constexpr unsigned attempts = 4;
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    const std::uintptr_t at = find_room(most + all_table_bytes(most), attempt);
    if (at == 0) return false;
    place(at, most, 0);
    if (grow_to(slab_size)) return true;
  }
  return false;
}

// Where the kernel has other ideas of where the range should lie, it cannot grow.
bool Arena::reserve_at_once(std::size_t wanted) {
  for (std::size_t want = wanted; want >= smallest_reserve;
       want = want / 4 & ~(smallest_reserve - 1)) {
    const std::size_t tables = all_table_bytes(want);
    void* range = reserve_range(slab_size + want + tables);
    if (range == nullptr) continue;
    const std::uintptr_t base =
        (reinterpret_cast<std::uintptr_t>(range) + slab_size - 1) & ~(slab_size - 1);
    if (!open_range(reinterpret_cast<void*>(base + want), tables)) {
      munmap(range, slab_size + want + tables);
      continue;
    }
    place(base, want, want);
    return grow_to(want);
  }
  return false;
}

// False where there is no more address space, or something else lies there.
bool Arena::grow() {
  const std::size_t now = bytes();
  if (now >= most_) return false;
  const std::size_t more = std::clamp((now / 8) & ~(slab_size - 1), least_growth, most_growth);
  return grow_to(std::min(now + more, most_)) || grow_to(now + slab_size);
}

bool Arena::grow_to(std::size_t bytes) {
  for (unsigned i = 0; i < table_count; ++i)
    if (!tables_[i].grow(table_bytes(static_cast<Table>(i), bytes))) return false;
  if (!memory_range_.grow(bytes)) return false;
  // Last: other threads may be asking `contains` already, and growing the range further.
  raise(granule_limit_, bytes / granule);
  raise(page_limit_, bytes >> page_shift);
  return true;
}

// Makes the pages of the next 2 MiB free.
bool Arena::open_slab(PageKind kind) {
  std::uint32_t slab = slabs_opened_.load(std::memory_order_relaxed);
  do {
    while ((slab + 1) * slab_pages > __atomic_load_n(&page_limit_, __ATOMIC_ACQUIRE))
      if (!grow()) return false;
  } while (!slabs_opened_.compare_exchange_weak(slab, slab + 1, std::memory_order_relaxed));
  void* memory = reinterpret_cast<void*>(base_ + slab * slab_size);
  if ((slab != 0 || !is_first_open_) && !open_range(memory, slab_size)) {
    // The next attempt tries the same one, unless another thread has taken the one behind it.
    std::uint32_t opened = slab + 1;
    slabs_opened_.compare_exchange_strong(opened, slab, std::memory_order_relaxed);
    return false;
  }
  if (kind == PageKind::huge) huge_pages_.ask(memory, slab_size);
  pool_.add(slab, kind);
  return true;
}

Page* Arena::take(PageKind kind) {
  const std::uint32_t number = pool_.take(kind);
  if (number == PagePool::none) return nullptr;
  Page& page = pages_[number];
  // In memory as a whole, from the first touch of its neighbours on.
  if (kind == PageKind::huge) page.touched = page_size / system_page;
  return &page;
}

Page* Arena::acquire(PageKind kind) {
  const KeepErrno keep;  // a refusal here is not the program's
  for (;;) {
    if (Page* page = take(kind)) return page;
    if (kind == PageKind::huge && !huge_pages_.wanted())
      kind = PageKind::normal;
    else if (!open_slab(kind))
      return take(kind);  // another thread may have opened one, or given a page back
  }
}

void Arena::release(Page& page) {
  page.thread.store(nullptr, std::memory_order_relaxed);
  const std::uint32_t number = link_of(page) - 1;
  pool_.put(number, page.touched != 0);
  const PageMask dirty = pool_.take_dirty(number / slab_pages);
  if (dirty.pages != 0) give_back(dirty);
}

// The system takes their memory, run by run.
void Arena::give_back(PageMask mask) {
  const KeepErrno keep;
  const std::uint32_t first = mask.slab * slab_pages;
  std::uint32_t refused = 0;
  for (std::uint32_t left = mask.pages; left != 0;) {
    const auto begin = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto count = static_cast<std::uint32_t>(std::countr_one(left >> begin));
    const std::uint32_t run = (count == slab_pages ? UINT32_MAX : (1u << count) - 1) << begin;
    left &= ~run;
    char* memory = memory_of(pages_[first + begin]);
    if (madvise(memory, count * page_size, MADV_DONTNEED) != 0) {
      refused |= run;
      continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) pages_[first + begin + i].touched = 0;
  }
  pool_.put_back(mask, refused);
}

}  // namespace halo::runtime
