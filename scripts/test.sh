#!/bin/bash
# All checks: format, types, clang-tidy on what runs inside other programs, warnings of the newest gcc, the
# native tests, the same under sanitizers, the Python tests. The stages before these run side by side.
set -euo pipefail
cd "$(dirname "$0")/.."

# Runs a stage: NAME COMMAND ... Its output is in build/test-NAME.log, and shown if it fails.
stage() {
  local name=$1 log=build/test-$1.log start=$SECONDS
  shift
  if "$@" >"$log" 2>&1 </dev/null; then
    echo "test: $name passed ($((SECONDS - start)) s)"
  else
    { cat "$log"; echo "test: $name failed; its output is above and in $log"; } >&2
    return 1
  fi
}

checks() {
  stage lint scripts/lint.sh || return
  stage tidy scripts/tidy.sh "$PWD/src/(base/ranges|plan|tidy|runtime|recorder/(wrappers|native)|studies/pollution/(traps|page_frames|monitor|live))/" || return
  stage native ctest --test-dir build -j "$(nproc)" --timeout 300 --output-on-failure --no-tests=ignore
}

echo "test: lint, clang-tidy, the newest gcc, native tests, and these under asan and tsan"
# Process groups, so that an interrupt ends all that a lane has started.
set -m
checks & lanes=($!)
stage asan scripts/sanitize.sh asan & lanes+=($!)
stage tsan scripts/sanitize.sh tsan & lanes+=($!)
stage newest-gcc scripts/newest_gcc.sh & lanes+=($!)
set +m
trap 'for lane in "${lanes[@]}"; do kill -- "-$lane" 2>/dev/null || true; done' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
status=0
for lane in "${lanes[@]}"; do wait "$lane" || status=1; done
trap - EXIT INT TERM
[ $status = 0 ] || exit 1

# The tests call commands thousands of times, each of which would compile its modules again.
unset PYTHONDONTWRITEBYTECODE

# Files side by side, the tests of each one after the other; the longest files, of tests of whole
# programs, first. One process more than processors, as tests wait for programs that sleep or write.
workers=$(($(nproc) < 4 ? $(nproc) + 1 : 4))
exec .venv/bin/python3 -m pytest -q -n "$workers" --dist loadfile --no-loadscope-reorder "$@"
