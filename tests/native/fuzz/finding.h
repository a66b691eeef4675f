// How a fuzzer reports a broken promise: one line on stderr, then the process ends by SIGABRT.
#pragma once

namespace halo::fuzz {

[[noreturn, gnu::cold]] void report_finding(const char* sentence);

// Waits until the child has ended, also where libFuzzer's timer interrupts: its status, as waitpid
// gives it.
int status_of(int child);

inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    report_finding(sentence);
}

}  // namespace halo::fuzz
