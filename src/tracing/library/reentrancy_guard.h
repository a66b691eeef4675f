// Marks the library's own code, whose allocations are not reported.
#pragma once

#include "tracing/library/local.h"

namespace halo::logging {

class ReentrancyGuard {
 public:
  ReentrancyGuard() { ++halo_log_local.reentrancy; }
  ~ReentrancyGuard() { --halo_log_local.reentrancy; }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;
};

}  // namespace halo::logging
