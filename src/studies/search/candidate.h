// A candidate plan: the settings of its groups, and the group of each allocation context.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/format.h"

namespace halo::predict {

// Where the objects of a context go; `group` is kVerdictForward if they are forwarded.
struct Verdict {
  uint16_t group = plan::kVerdictForward;
  bool align16 = false;
};

struct Candidate {
  std::string name;
  uint32_t max_object = 0;  // bytes; larger objects are forwarded
  std::vector<plan::Group> groups;
  std::vector<Verdict> verdicts;  // by context
  Verdict others;                 // of all further contexts

  Verdict verdict(uint32_t context, uint32_t size) const {
    if (size > max_object) return {};
    return context < verdicts.size() ? verdicts[context] : others;
  }
};

// A candidate is a line of words:
//
//   NAME MAX_OBJECT GROUPS {FLAGS:REUSE:STARTS}... OTHERS {VERDICT}...
//
// FLAGS, REUSE and STARTS are those of `plan::Group`, as decimal numbers. A verdict, also that of
// all OTHERS, is a group, behind it `+` if its blocks are aligned to 16 bytes; or `-`: forwarded.
// Returns false if the line is none.
bool parse_candidate(std::string_view line, Candidate& candidate);

}  // namespace halo::predict
