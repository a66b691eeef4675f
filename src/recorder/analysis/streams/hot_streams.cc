// Finds all repeated strings by extending them one reference at a time, and then searches for the
// threshold of heat.
#include "recorder/analysis/streams/hot_streams.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "recorder/analysis/streams/boundary_text.h"
#include "recorder/analysis/streams/string_table.h"

namespace halo::sinks {

namespace {

class StreamSearch {
 public:
  StreamSearch(const Sequitur& grammar, const StreamOptions& options)
      : grammar_text_(grammar),
        options_(options),
        text_(grammar_text_.text()),
        hot_length_(text_.size()) {
    find_repeated();
  }

  // Finds the minimal hot streams, and their coverage.
  void search(uint64_t threshold) {
    threshold_ = threshold;
    found_.clear();
    std::vector<uint8_t> hot(strings_.size());  // length of the hot prefix; 0: none
    for (size_t at = 1; at < strings_.size(); ++at) {
      const String& string = strings_[at];
      hot[at] = hot[string.prefix];
      if (hot[at] != 0 || string.length < options_.shortest) continue;
      if (string.occurrences * string.length < threshold) continue;
      hot[at] = uint8_t(string.length);
      found_.push_back(uint32_t(at));
    }
    for (const Start& start : starts_) hot_length_[start.place] = hot[start.longest];
    covered_ = count_covered();
  }

  // The maximum heat of a string.
  uint64_t greatest_heat() const {
    uint64_t greatest = 0;
    for (const String& string : strings_)
      greatest = std::max(greatest, string.occurrences * string.length);
    return greatest;
  }

  bool covers_enough() const {
    return double(covered_) >= options_.coverage * double(references());
  }
  uint64_t references() const { return grammar_text_.references(); }

  HotStreams result() const {
    HotStreams result{references(), covered_, threshold_, {}};
    result.streams.reserve(found_.size());
    for (const uint32_t at : found_) {
      const String& stream = strings_[at];
      const auto begin = text_.begin() + stream.place;
      result.streams.push_back({{begin, begin + stream.length}, stream.occurrences});
    }
    return result;
  }

 private:
  // At least two terminals that occur at least twice.
  struct String {
    uint64_t occurrences;
    uint32_t prefix;  // without its last terminal; 0 if that is a single terminal
    uint32_t place;   // one of its positions
    uint32_t length;
  };
  // A position at which a string that counts may start.
  struct Start {
    uint32_t place;
    uint32_t longest;  // of the strings that start here; 0: none
  };

  // The number of occurrences of each terminal, up to two.
  std::vector<uint8_t> count_terminals() const {
    std::vector<uint8_t> counts;
    for (uint32_t region = 0; region < grammar_text_.regions().size(); ++region) {
      const uint64_t frequency = grammar_text_.regions()[region].frequency;
      grammar_text_.for_each_piece(region, [&](const BoundaryText::Piece& piece) {
        if (piece.region != BoundaryText::kTerminal) return;
        const uint32_t terminal = text_[piece.begin];
        if (terminal >= counts.size()) counts.resize(terminal + 1);
        counts[terminal] = uint8_t(std::min<uint64_t>(2, counts[terminal] + frequency));
      });
    }
    return counts;
  }

  // Calls visit(position) for each position at which a string that counts may start: two terminals
  // that both repeat.
  template <class Visit>
  void for_each_pair(const std::vector<uint8_t>& counts, const Visit& visit) const {
    for (size_t at = 0; at + 1 < text_.size(); ++at) {
      if (grammar_text_.left_of_symbol(at) >= options_.longest) continue;
      if (counts[text_[at]] < 2 || text_[at + 1] == BoundaryText::kBreak) continue;
      if (counts[text_[at + 1]] >= 2) visit(uint32_t(at));
    }
  }

  // Collects the starts whose first pair probably repeats. It compares hashes, so a few pairs that
  // do not repeat are included.
  void find_starts() {
    const std::vector<uint8_t> counts = count_terminals();
    size_t pairs = 0;
    for_each_pair(counts, [&](uint32_t) { ++pairs; });
    std::vector<uint8_t> seen(std::bit_ceil(2 * pairs + 1));  // by hash, up to two
    const auto slot_of = [&](uint32_t at) -> uint8_t& {
      return seen[DigramTable::hash_of(text_[at], text_[at + 1]) & (seen.size() - 1)];
    };
    size_t region = 0;
    const auto& regions = grammar_text_.regions();
    for_each_pair(counts, [&](uint32_t at) {
      while (at >= regions[region].end) ++region;
      if (grammar_text_.left_of_symbol(at) > 1) return;
      uint8_t& slot = slot_of(at);
      slot = uint8_t(std::min<uint64_t>(2, slot + regions[region].frequency));
    });
    for_each_pair(counts, [&](uint32_t at) {
      if (slot_of(at) >= 2) starts_.push_back({at, 0});
    });
  }

  // Finds all repeated strings, shorter ones first: no extension of a string that occurs once
  // repeats.
  void find_repeated() {
    find_starts();
    std::vector<uint32_t> open(starts_.size());  // starts whose strings may be longer
    std::iota(open.begin(), open.end(), 0u);
    strings_.push_back({});
    for (uint32_t length = 2; length <= options_.longest && !open.empty(); ++length) {
      std::erase_if(open, [&](uint32_t start) {
        return text_[starts_[start].place + length - 1] == BoundaryText::kBreak;
      });
      extend(open, length);
    }
  }

  // Extends the strings of the open starts by one, and closes those whose extension does not
  // repeat.
  void extend(std::vector<uint32_t>& open, uint32_t length) {
    StringTable table;
    std::vector<uint64_t> occurrences;
    std::vector<uint32_t> number_of(open.size());
    size_t region = 0;
    const auto& regions = grammar_text_.regions();
    for (size_t at = 0; at < open.size(); ++at) {
      const Start& start = starts_[open[at]];
      const uint32_t prefix = length == 2 ? text_[start.place] : start.longest;
      const uint32_t number = table.number_of(prefix, text_[start.place + length - 1]);
      number_of[at] = number;
      if (number == occurrences.size()) occurrences.push_back(0);
      while (start.place >= regions[region].end) ++region;
      if (length > grammar_text_.left_of_symbol(start.place))
        occurrences[number] += regions[region].frequency;
    }
    std::vector<uint32_t> kept(occurrences.size());  // index among all strings; 0: none yet
    size_t left = 0;
    for (size_t at = 0; at < open.size(); ++at) {
      const uint32_t number = number_of[at];
      if (occurrences[number] < 2) continue;
      Start& start = starts_[open[at]];
      if (kept[number] == 0) {
        kept[number] = uint32_t(strings_.size());
        strings_.push_back({occurrences[number], start.longest, start.place, length});
      }
      start.longest = kept[number];
      open[left++] = open[at];
    }
    open.resize(left);
  }

  // Counts the covered references of each region's expansion: those that its symbols cover
  // themselves, and those that occurrences across symbols add.
  uint64_t count_covered() const {
    const auto& regions = grammar_text_.regions();
    std::vector<uint64_t> covered(regions.size()), ends(regions.size());
    uint64_t total = 0;
    std::vector<uint8_t> is_covered;
    for (uint32_t region = 0; region < regions.size(); ++region) {
      const BoundaryText::Region& own = regions[region];
      is_covered.assign(own.end - own.begin, 0);
      uint64_t count = 0;
      grammar_text_.for_each_piece(region, [&](const BoundaryText::Piece& piece) {
        if (piece.region == BoundaryText::kTerminal) return;
        count += covered[piece.region];
        const bool whole = BoundaryText::is_short(regions[piece.region].length);
        for (uint32_t bit = 0; bit < piece.written; ++bit) {
          const size_t place = piece.begin + bit + (!whole && bit >= BoundaryText::kEnd ? 1 : 0);
          is_covered[place - own.begin] = ends[piece.region] >> bit & 1;
        }
      });
      for (size_t at = own.begin; at < own.end; ++at) {
        const uint32_t length = hot_length_[at];
        if (length <= grammar_text_.left_of_symbol(at)) continue;
        for (size_t place = at - own.begin; place < at - own.begin + length; ++place) {
          count += is_covered[place] == 0;
          is_covered[place] = 1;
        }
      }
      covered[region] = count;
      ends[region] = ends_of(is_covered, own.length);
    }
    for (uint32_t region = 0; region < regions.size(); ++region) {
      if (grammar_text_.is_start(region)) total += covered[region];
    }
    return total;
  }

  // One bit for each terminal that is written at a use of the region.
  static uint64_t ends_of(const std::vector<uint8_t>& is_covered, uint64_t length) {
    uint64_t bits = 0;
    const bool whole = BoundaryText::is_short(length);
    const uint32_t written = whole ? uint32_t(length) : 2 * BoundaryText::kEnd;
    for (uint32_t bit = 0; bit < written; ++bit) {
      const bool in_front = whole || bit < BoundaryText::kEnd;
      const size_t place = in_front ? bit : is_covered.size() - written + bit;
      bits |= uint64_t{is_covered[place]} << bit;
    }
    return bits;
  }

  const BoundaryText grammar_text_;
  const StreamOptions options_;
  const std::vector<uint32_t>& text_;
  std::vector<String> strings_;  // the first is unused
  std::vector<Start> starts_;    // ascending
  uint64_t threshold_ = 0;
  std::vector<uint8_t> hot_length_;  // of the hot stream that starts at the position; 0: none
  std::vector<uint32_t> found_;      // the hot streams among the strings
  uint64_t covered_ = 0;
};

}  // namespace

HotStreams find_hot_streams_above(const Sequitur& grammar, const StreamOptions& options,
                                  uint64_t threshold) {
  StreamSearch search(grammar, options);
  search.search(threshold);
  return search.result();
}

HotStreams find_hot_streams(const Sequitur& grammar, const StreamOptions& options) {
  StreamSearch search(grammar, options);
  uint64_t enough = 2 * uint64_t{options.shortest};  // no stream has less heat
  search.search(enough);
  if (!search.covers_enough()) return search.result();
  for (uint64_t too_much = search.greatest_heat() + 1; too_much > enough + 1 + enough / 16;) {
    const auto middle = uint64_t(std::sqrt(double(enough) * double(too_much)));
    const uint64_t next = std::clamp(middle, enough + 1, too_much - 1);
    search.search(next);
    (search.covers_enough() ? enough : too_much) = next;
  }
  search.search(enough);
  return search.result();
}

}  // namespace halo::sinks
