// Parses candidates.
#include "studies/search/candidate.h"

#include "base/parse_number.h"
#include "plan/plan_file.h"

namespace halo::predict {

namespace {

std::string_view next_word(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

bool parse_group(std::string_view word, plan::Group& group) {
  const size_t first = word.find(':'), second = word.rfind(':');
  if (first == second) return false;
  uint32_t reuse = 0;
  if (!parse_number(word.substr(0, first), group.flags) ||
      !parse_number(word.substr(first + 1, second - first - 1), reuse) ||
      !parse_number(word.substr(second + 1), group.starts))
    return false;
  if (reuse > uint32_t(plan::Reuse::kWholeChunks)) return false;
  group.reuse = plan::Reuse(reuse);
  return plan::check_group(group, plan::kGroupFlags) == nullptr;
}

bool parse_verdict(std::string_view word, size_t groups, Verdict& verdict) {
  verdict = {};
  if (word == "-") return true;
  if (word.ends_with('+')) {
    verdict.align16 = true;
    word.remove_suffix(1);
  }
  return parse_number(word, verdict.group) && verdict.group < groups;
}

}  // namespace

bool parse_candidate(std::string_view line, Candidate& candidate) {
  candidate.name = next_word(line);
  size_t groups = 0;
  if (candidate.name.empty() || !parse_number(next_word(line), candidate.max_object) ||
      candidate.max_object > plan::kMaxObjectLimit || !parse_number(next_word(line), groups) ||
      groups > plan::kMaxGroups)
    return false;
  candidate.groups.resize(groups);
  for (plan::Group& group : candidate.groups)
    if (!parse_group(next_word(line), group)) return false;
  if (!parse_verdict(next_word(line), groups, candidate.others)) return false;
  candidate.verdicts.clear();
  while (!line.empty())
    if (!parse_verdict(next_word(line), groups, candidate.verdicts.emplace_back())) return false;
  return true;
}

}  // namespace halo::predict
