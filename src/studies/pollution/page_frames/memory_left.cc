#include "studies/pollution/page_frames/memory_left.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "studies/pollution/traps/user_faults.h"

namespace halo::frames {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr size_t kMaxText = 4096;

// The beginning of a file; empty if it cannot be read.
class Text {
 public:
  explicit Text(const char* path) {
    const long file =
        traps::call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const long bytes = traps::call(SYS_read, file, reinterpret_cast<long>(bytes_.data()), kMaxText);
    bytes_read_ = bytes < 0 ? 0 : static_cast<size_t>(bytes);
    traps::call(SYS_close, file);
  }
  std::string_view view() const { return {bytes_.data(), bytes_read_}; }

 private:
  std::array<char, kMaxText> bytes_;
  size_t bytes_read_ = 0;
};

// A path that is put together; too long ones are cut, so that there is no such file.
class Path {
 public:
  Path& operator+=(std::string_view more) {
    const size_t fits = std::min(more.size(), kMaxText - 1 - length_);
    std::copy_n(more.data(), fits, text_.data() + length_);
    length_ += fits;
    text_[length_] = '\0';
    return *this;
  }
  const char* text() const { return text_.data(); }

 private:
  std::array<char, kMaxText> text_{};
  size_t length_ = 0;
};

// kNoLimit if the text does not begin with a number.
uint64_t number_of(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? number : kNoLimit;
}

uint64_t number_in(const char* root, std::string_view hierarchy, std::string_view group,
                   std::string_view name) {
  Path path;
  ((((path += root) += hierarchy) += group) += "/") += name;
  return number_of(Text(path.text()).view());
}

struct Names {
  std::string_view hierarchy, limit, used;
};
constexpr Names kFirstVersion = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};
constexpr Names kSecondVersion = {"", "memory.max", "memory.current"};

// Of the group and those above it.
uint64_t left_in_groups(const char* root, const Names& names, std::string_view group) {
  uint64_t left = kNoLimit;
  for (;;) {
    const uint64_t limit = number_in(root, names.hierarchy, group, names.limit);
    const uint64_t used = number_in(root, names.hierarchy, group, names.used);
    if (limit != kNoLimit && used != kNoLimit) left = std::min(left, limit - std::min(limit, used));
    if (group.empty()) return left;
    group = group.substr(0, group.rfind('/'));
  }
}

// A line of /proc/self/cgroup: `NUMBER:CONTROLLERS:GROUP`; version 2 has no controllers.
uint64_t left_by_line(const char* root, std::string_view line) {
  const size_t first = line.find(':');
  const size_t second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return kNoLimit;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  std::string_view group = line.substr(second + 1);
  if (group == "/") group = {};
  if (controllers.empty()) return left_in_groups(root, kSecondVersion, group);
  if (controllers != "memory") return kNoLimit;
  return left_in_groups(root, kFirstVersion, group);
}

uint64_t available(std::string_view machine) {
  constexpr std::string_view kKey = "MemAvailable:";
  const size_t at = machine.find(kKey);
  if (at == std::string_view::npos) return kNoLimit;
  const uint64_t kibibytes = number_of(machine.substr(at + kKey.size()));
  return kibibytes == kNoLimit ? kNoLimit : kibibytes << 10;
}

}  // namespace

uint64_t memory_left(const MemoryFiles& files) {
  uint64_t left = available(Text(files.machine).view());
  const Text groups(files.groups);
  std::string_view rest = groups.view();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    left = std::min(left, left_by_line(files.control, rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return left;
}

}  // namespace halo::frames
