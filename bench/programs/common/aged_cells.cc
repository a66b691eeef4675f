// Objects with the sizes and hints of an earlier run.
#include "common/aged_cells.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "common/phase.h"
#include "studies/litter/litter.h"
#include "studies/litter/pages.h"

namespace variant {
namespace {

using halo::litter::Pages;

[[noreturn]] void fail(const char* name, const char* problem) {
  std::fprintf(stderr, "%s: %s\n", name, problem);
  std::exit(3);
}

const char* value_of(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) fail(name, "is not set");
  return text;
}

void read_file(const char* path, Pages<char>& text) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status{};
  bool complete = file >= 0 && fstat(file, &status) == 0;
  complete = complete && text.map(static_cast<size_t>(status.st_size));
  for (size_t done = 0; complete && done < text.size();) {
    const ssize_t got = read(file, text.begin() + done, text.size() - done);
    complete = got > 0;
    if (complete) done += static_cast<size_t>(got);
  }
  if (file >= 0) close(file);
  if (!complete) fail(path, "cannot be read");
}

struct Hinted {
  uint64_t size, key;
};

// The objects of a log, by size.
class HintLog {
 public:
  explicit HintLog(const char* path) {
    Pages<char> text;
    read_file(path, text);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    if (!objects_.map(static_cast<size_t>(lines))) fail(path, "too large");
    const char* at = text.begin();
    const auto next = [&] {
      while (at < text.end() && (*at == ' ' || *at == '\n')) ++at;
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(at, text.end(), value);
      if (error != std::errc()) fail(path, "is not a log of hints");
      at = end;
      return value;
    };
    for (Hinted& one : objects_) {
      next();  // its address
      one.size = next();
      one.key = next();
    }
    std::sort(objects_.begin(), objects_.end(), before);
  }

  // A random object of that size; nullptr if there is none.
  const Hinted* draw(size_t size, uint64_t random) const {
    const auto [first, last] =
        std::equal_range(objects_.begin(), objects_.end(), Hinted{size, 0}, before);
    if (first == last) return nullptr;
    return first + random % static_cast<uint64_t>(last - first);
  }

 private:
  static bool before(const Hinted& one, const Hinted& other) { return one.size < other.size; }

  Pages<Hinted> objects_;
};

// The elements of a hint with that key (tidy/keys.h), of one or two dimensions.
std::array<unsigned, 2> hint_of(uint64_t key, unsigned dimensions) {
  if (dimensions == 1) return {static_cast<unsigned>(key), 0};
  std::array<unsigned, 2> hint{};
  for (unsigned bit = 0; bit < 64; ++bit)
    hint[bit % 2] |= static_cast<unsigned>(key >> bit & 1) << bit / 2;
  return hint;
}

struct Cells {
  tidy_ctx_t* context;
  unsigned dimensions;
  const HintLog* hints;  // nullptr: objects have none

  void* allocate(size_t size, uint64_t random) const {
    const Hinted* const one = hints == nullptr ? nullptr : hints->draw(size, random);
    if (one == nullptr) return tidy_alloc(context, size, nullptr);
    return tidy_alloc(context, size, hint_of(one->key, dimensions).data());
  }
};

}  // namespace

void age_cells(tidy_ctx_t* context, unsigned dimensions, bool uses_hints) {
  const char* const data = std::getenv("HALO_BENCH_LITTER_DATA");
  const char* const log = std::getenv("HALO_BENCH_LITTER_HINTS");
  if (data == nullptr || log == nullptr) return;
  const Phase phase("littering");
  const HintLog hints(log);
  Cells cells{context, dimensions, uses_hints ? &hints : nullptr};
  const halo_litter_settings settings{
      .data = data,
      .occupancy = std::strtod(value_of("HALO_LITTER_OCCUPANCY"), nullptr),
      .multiplier = std::strtod(value_of("HALO_LITTER_MULTIPLIER"), nullptr),
      .seed = std::strtoull(value_of("HALO_LITTER_SEED"), nullptr, 10),
      .shuffle = 1,
      .groups = 0,
  };
  const halo_litter_heap heap{
      [](void* state, size_t size, uint64_t random) {
        return static_cast<const Cells*>(state)->allocate(size, random);
      },
      [](void*, void* object) { tidy_free(object); },
      &cells,
  };
  halo_litter_report report;
  if (halo_litter_in(&settings, &heap, &report) != HALO_LITTERED) fail(data, report.problem);
}

}  // namespace variant
