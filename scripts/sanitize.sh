#!/bin/bash
# Builds the native tests under sanitizers and runs those that were rebuilt since they last
# passed: sanitize.sh [asan] [tsan]; both if none is named.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- asan tsan

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# GCC 12's ThreadSanitizer does not support all addresses of the kernel's random mappings.
prefix=()
! setarch -R true 2>/dev/null || prefix=(setarch -R)

build() {
  mkdir -p "build-$1"
  cmake --preset "$1" >"build-$1/configure.log" 2>&1 || {
    tail -20 "build-$1/configure.log" >&2
    echo "sanitize: cmake failed; all of its messages are in build-$1/configure.log" >&2
    exit 1
  }
  cmake --build --preset "$1" -j "$(nproc)"
}

# Fails if a test fails, after all have run.
run() {
  local binary passed status=0
  for binary in "build-$1"/bin/*[-_]test{,s}; do
    [ -x "$binary" ] || continue
    passed=$binary.passed
    [ "$passed" -nt "$binary" ] && continue
    echo "sanitize: $binary"
    if timeout 900 "${prefix[@]}" "$binary" --gtest_brief=1; then touch "$passed"; else status=1; fi
  done
  return $status
}

failed=0
for kind in "$@"; do
  build "$kind"
  run "$kind" || failed=1
done
exit $failed
