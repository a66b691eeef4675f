// Marks our own code: what it allocates is not reported.
#pragma once

#include "logging/local.h"

namespace halo::logging {

class OwnWork {
 public:
  OwnWork() { ++halo_log_local.own_work; }
  ~OwnWork() { --halo_log_local.own_work; }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

}  // namespace halo::logging
