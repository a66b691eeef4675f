// How a fuzzer reports a broken promise: one line on stderr, then the process ends by SIGABRT.
#pragma once

namespace halo::fuzz {

[[noreturn, gnu::cold]] void report_finding(const char* sentence);

inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    report_finding(sentence);
}

}  // namespace halo::fuzz
