// The request from the guest to the recorder, if one is attached.
#pragma once

#include <valgrind/valgrind.h>

#include "recorder/wrappers/protocol.h"

namespace halo::interpose {

// Without a recorder, it does nothing.
inline void call_recorder(volatile Hello& hello) {
  VALGRIND_DO_CLIENT_REQUEST_STMT(kHelloRequest, &hello, 0, 0, 0, 0);
}

}  // namespace halo::interpose
