// Threads of ours in a process that is not.
#pragma once

#include <atomic>
#include <cstdint>

namespace halo::logging {

// So many are there, to be told from the program's. They do not end before it does.
inline constinit std::atomic<uint32_t> own_threads{0};

// Detached, with a small stack and the caller's signal mask. Needs all signals blocked.
bool start_own_thread(void* (*body)(void*), void* argument = nullptr);

}  // namespace halo::logging
