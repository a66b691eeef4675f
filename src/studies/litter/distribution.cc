// Parses detector.out: only the JSON that detection.cc writes.
#include "studies/litter/distribution.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/old_c_library.h"
#include "studies/litter/size_classes.h"

#define JSMN_STATIC
#define JSMN_PARENT_LINKS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <jsmn.h>
#pragma GCC diagnostic pop

namespace halo::litter {

namespace {

constexpr uint64_t kNewestVersion = 1;
constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr const char* kDamaged = "is damaged: run the detector again";

// A parsed JSON text. Values are referred to by token; token 0 is the whole document, so no value
// has it.
class Document {
 public:
  const char* read(const char* path);

  int member(int object, const char* name) const {
    for (int i = object + 1; i < count_; ++i)
      if (tokens_[at(i)].parent == object && equals(i, name) && i + 1 < count_) return i + 1;
    return 0;
  }

  bool is(int token, jsmntype_t type) const { return tokens_[at(token)].type == type; }
  int size(int token) const { return tokens_[at(token)].size; }
  int parent(int token) const { return tokens_[at(token)].parent; }
  int count() const { return count_; }

  bool equals(int token, const char* text) const {
    const size_t length = length_of(token);
    return is(token, JSMN_STRING) && strlen(text) == length &&
           memcmp(start_of(token), text, length) == 0;
  }

  // Returns false if the token is not a whole number of 64 bits.
  bool number(int token, uint64_t& result) const {
    if (token == 0 || !is(token, JSMN_PRIMITIVE)) return false;
    const char* text = start_of(token);
    const size_t length = length_of(token);
    if (length == 0) return false;
    result = 0;
    for (size_t i = 0; i < length; ++i) {
      if (text[i] < '0' || text[i] > '9') return false;
      const auto digit = static_cast<uint64_t>(text[i] - '0');
      if (__builtin_mul_overflow(result, uint64_t{10}, &result) ||
          __builtin_add_overflow(result, digit, &result))
        return false;
    }
    return true;
  }

 private:
  static size_t at(int token) { return static_cast<size_t>(token); }
  const char* start_of(int token) const { return text_.begin() + tokens_[at(token)].start; }
  size_t length_of(int token) const {
    return static_cast<size_t>(tokens_[at(token)].end - tokens_[at(token)].start);
  }

  Pages<char> text_;
  Pages<jsmntok_t> tokens_;
  int count_ = 0;
};

const char* read_whole(const char* path, Pages<char>& text) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a FIFO must not block
  if (fd < 0) return errno == ENOENT ? "does not exist: run the detector first" : "cannot be read";
  struct stat status;
  const char* problem = nullptr;
  if (!read_status(fd, status) || !S_ISREG(status.st_mode)) {
    problem = "is not a regular file";
  } else if (status.st_size == 0) {
    problem = "is empty: run the detector again";
  } else if (static_cast<size_t>(status.st_size) > kMaxBytes) {
    problem = "is not a detector's output: it is too large";
  } else if (!text.map(static_cast<size_t>(status.st_size))) {
    problem = "cannot be read: there is no memory for it";
  }
  for (size_t done = 0; problem == nullptr && done < text.size();) {
    const ssize_t n = ::read(fd, text.begin() + done, text.size() - done);
    if (n <= 0) problem = "cannot be read";
    if (n > 0) done += static_cast<size_t>(n);
  }
  close(fd);
  return problem;
}

const char* Document::read(const char* path) {
  if (const char* problem = read_whole(path, text_)) return problem;
  jsmn_parser parser;
  jsmn_init(&parser);
  constexpr const char* kCut = "is cut short: run the detector again";
  const int needed = jsmn_parse(&parser, text_.begin(), text_.size(), nullptr, 0);
  if (needed == JSMN_ERROR_PART) return kCut;
  if (needed <= 0) return "is not a detector's output";
  if (!tokens_.map(static_cast<size_t>(needed))) return "cannot be read: there is no memory for it";
  jsmn_init(&parser);
  count_ = jsmn_parse(&parser, text_.begin(), text_.size(), tokens_.begin(),
                      static_cast<unsigned>(needed));
  if (count_ == JSMN_ERROR_PART)
    return kCut;  // jsmn detects open brackets only while it stores
                  // tokens
  return count_ == needed && is(0, JSMN_OBJECT) ? nullptr : "is not a detector's output";
}

// Collects kinds in a table of counts by group and size class.
class Counts {
 public:
  bool open(uint32_t groups) { return counts_.map((1 + size_t{groups}) * kSizeClasses); }

  // Row 0 is for objects in no group.
  uint64_t& of(size_t row, uint64_t bin) { return counts_[row * kSizeClasses + bin]; }

  bool make_kinds(uint32_t larger_size, Pages<Kind>& kinds) const {
    const auto used = static_cast<size_t>(
        std::count_if(counts_.begin(), counts_.end(), [](uint64_t n) { return n != 0; }));
    if (!kinds.map(used)) return false;
    Kind* kind = kinds.begin();
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const auto bin = static_cast<uint32_t>(i % kSizeClasses);
      const auto row = static_cast<uint32_t>(i / kSizeClasses);
      *kind++ = {counts_[i], bin == kLargerClass ? larger_size : bin,
                 row == 0 ? kNoGroup : row - 1};
    }
    return true;
  }

 private:
  Pages<uint64_t> counts_;
};

const char* read_bins(const Document& json, int bins, Counts& counts, uint64_t allocations) {
  if (bins == 0 || !json.is(bins, JSMN_ARRAY) || json.size(bins) != kSizeClasses) return kDamaged;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kSizeClasses; ++i) {
    uint64_t count;
    if (!json.number(bins + 1 + static_cast<int>(i), count) ||
        __builtin_add_overflow(sum, count, &sum))
      return kDamaged;
    counts.of(0, i) = count;
  }
  return sum == allocations ? nullptr : kDamaged;
}

// Reads each group's pairs of size class and count, and subtracts them from the totals.
const char* read_groups(const Document& json, int groups, Counts& counts) {
  int token = groups + 1;
  for (int row = 1; row <= json.size(groups); ++row) {
    if (token >= json.count() || !json.is(token, JSMN_ARRAY)) return kDamaged;
    const int pairs = json.size(token++);
    for (int i = 0; i < pairs; ++i, token += 3) {
      uint64_t bin, count;
      if (token + 2 >= json.count() || !json.is(token, JSMN_ARRAY) || json.size(token) != 2 ||
          !json.number(token + 1, bin) || !json.number(token + 2, count) || bin >= kSizeClasses ||
          count > counts.of(0, bin))
        return kDamaged;
      counts.of(static_cast<size_t>(row), bin) += count;
      counts.of(0, bin) -= count;
    }
  }
  return nullptr;
}

}  // namespace

const char* read_distribution(const char* path, bool by_group, Distribution& result) {
  Document json;
  if (const char* problem = json.read(path)) return problem;
  const int format = json.member(0, "format");
  uint64_t version;
  if (format == 0 || !json.equals(format, "halo-detector")) return "is not a detector's output";
  if (!json.number(json.member(0, "version"), version)) return kDamaged;
  if (version > kNewestVersion) return "is of a newer version: update halo";
  uint64_t larger_bytes;
  if (!json.number(json.member(0, "allocations"), result.allocations) ||
      !json.number(json.member(0, "max_live_allocations"), result.max_live) ||
      !json.number(json.member(0, "larger_bytes"), larger_bytes) ||
      result.max_live > result.allocations)
    return kDamaged;
  const int groups = json.member(0, "groups");
  if (groups == 0 || !json.is(groups, JSMN_ARRAY)) return kDamaged;
  result.groups = static_cast<uint32_t>(json.size(groups));
  Counts counts;
  if (!counts.open(by_group ? result.groups : 0))
    return "cannot be read: there is no memory for it";
  if (const char* problem = read_bins(json, json.member(0, "bins"), counts, result.allocations))
    return problem;
  const uint64_t larger = counts.of(0, kLargerClass);
  if (larger_bytes / kLargerClass < larger || (larger == 0 && larger_bytes != 0)) return kDamaged;
  const uint64_t mean = larger == 0 ? 0 : larger_bytes / larger;
  if (by_group)
    if (const char* problem = read_groups(json, groups, counts)) return problem;
  const auto larger_size = static_cast<uint32_t>(std::min<uint64_t>(mean, UINT32_MAX));
  return counts.make_kinds(larger_size, result.kinds) ? nullptr
                                                      : "cannot be read: there is no memory for it";
}

}  // namespace halo::litter
