// Finds a phase's code in memory.
#include "recorder/analysis/phase.h"

#include <charconv>
#include <fstream>

namespace halo::sinks {

namespace {

bool take_number(std::string_view& text, char behind, uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || (behind != '\0' && (stop == end || *stop != behind))) return false;
  text.remove_prefix(size_t(stop - text.data()) + (behind != '\0'));
  return true;
}

}  // namespace

std::optional<PhaseCode> parse_phase(std::string_view text) {
  PhaseCode code;
  for (;;) {
    AddressRange range;
    if (!take_number(text, '-', range.begin) || !take_number(text, '\0', range.end)) return {};
    if (range.begin >= range.end || text.empty()) return {};
    code.ranges.push_back(range);
    const char separator = text.front();
    text.remove_prefix(1);
    if (separator == '@') break;
    if (separator != '+') return {};
  }
  code.path = text;
  return text.starts_with('/') ? std::optional(code) : std::nullopt;
}

void Phase::locate(const PhaseCode& code, pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::vector<bool> found(code.ranges.size());
  for (std::string text; std::getline(maps, text);) {
    const MapsLine line = parse_maps_line(text);
    if (line.path != code.path) continue;
    for (size_t at = 0; at < found.size(); ++at) {
      const AddressRange& range = code.ranges[at];
      const uint64_t bytes = line.range.end - line.range.begin;
      // The first mapping counts: a later one may have the end of the code with data behind it.
      if (found[at] ||
          !AddressRange{line.file_offset, line.file_offset + bytes}.contains(range.begin))
        continue;
      const uint64_t shift = line.range.begin - line.file_offset;
      const AddressRange there{range.begin + shift, range.end + shift};
      if (std::find(ranges_.begin(), ranges_.end(), there) == ranges_.end())
        ranges_.push_back(there);
      found[at] = true;
    }
  }
}

}  // namespace halo::sinks
