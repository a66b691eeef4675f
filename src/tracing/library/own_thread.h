// The library's own threads in the traced process.
#pragma once

#include <atomic>
#include <cstdint>

namespace halo::logging {

// Their number, to tell them from the program's. They end with the process.
inline constinit std::atomic<uint32_t> own_threads{0};

// Creates a detached thread with a small stack and the caller's signal mask. All signals must be
// blocked.
bool start_own_thread(void* (*body)(void*), void* argument = nullptr);

}  // namespace halo::logging
