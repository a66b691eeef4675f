// Reports a violated property: one line on stderr, then SIGABRT.
#pragma once

namespace halo::fuzz {

[[noreturn, gnu::cold]] void report_finding(const char* sentence);

// Waits for the child and returns its status as waitpid does, even if libFuzzer's timer interrupts.
int status_of(int child);

inline void require(bool holds, const char* sentence) {
  if (!holds) [[unlikely]]
    report_finding(sentence);
}

}  // namespace halo::fuzz
