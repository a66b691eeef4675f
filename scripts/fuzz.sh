#!/bin/bash
# Fuzzes the runtime, traces and Tidy: fuzz.sh plan|operations|trace|objects|tidy|mutants MINUTES [SEED]. Exit status
# 0 without a finding; the inputs of findings are kept in build/fuzz (docs/fuzzing.md). HALO_BUILD:
# another build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() { echo "usage: scripts/fuzz.sh plan|operations|trace|objects|tidy|mutants MINUTES [SEED]" >&2; exit 2; }

kind=${1:-} minutes=${2:-} seed=${3:-$(date +%s)}
[[ $kind =~ ^(plan|operations|trace|objects|tidy|mutants)$ && $minutes =~ ^[0-9]*\.?[0-9]+$ && $seed =~ ^[0-9]+$ ]] || usage
build=$(realpath -m "${HALO_BUILD:-build}")
built=$build/bin/fuzz_$kind
[ "$kind" != mutants ] || built=$build/lib/libhalo-extra.so
[ -e "$built" ] || { echo "fuzz: nothing is built; run: scripts/build.sh everything" >&2; exit 2; }

kept=$build/fuzz
mkdir -p "$kept"
status=0

# A real program under mutated plans, some hundreds by each seed, until the time is over.
mutants() {
  local end=$((SECONDS + $(awk "BEGIN { print int($minutes * 60) }"))) first=$seed failed=0
  .venv/bin/python3 -c 'import pytest' 2>/dev/null ||
    { echo "fuzz: pytest is missing; run: scripts/setup.sh test" >&2; exit 2; }
  while
    HALO_MUTANTS=250 HALO_MUTANTS_SEED=$seed HALO_MUTANTS_KEPT=$kept HALO_BUILD=$build \
      .venv/bin/python3 -m pytest -q tests/python/e2e/runtime/identification/test_runtime_plan_mutants.py \
      >"$kept/mutants.log" 2>&1 || { failed=$((failed + 1)); tail -40 "$kept/mutants.log"; }
    seed=$((seed + 1))
    [ $SECONDS -lt $end ]
  do :; done
  echo "mutants: $(((seed - first) * 1000)) plans by seeds $first to $((seed - 1)), findings in $failed rounds of a thousand"
  exit $((failed != 0))
}
[ "$kind" != mutants ] || mutants

# An equal share of the time for each of the drivers below; at least a second.
shares=2
[ "$kind" != operations ] || shares=3
seconds=$(awk "BEGIN { s = int($minutes * 60 / $shares); print s < 1 ? 1 : s }")

own() {
  "$@" --seconds "$seconds" --seed "$seed" --keep "$kept" || status=1
}

# libFuzzer searches inputs that reach new code, under AddressSanitizer and UBSan.
build_libfuzzer() {
  # libstdc++ calls functions of its own that it has deprecated.
  local flags="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -Wno-deprecated-declarations"
  cmake -S . -B "$build/libfuzzer" -G Ninja -DCMAKE_C_COMPILER=clang-19 \
    -DCMAKE_CXX_COMPILER=clang++-19 "-DCMAKE_CXX_FLAGS=$flags" -DHALO_LIBFUZZER=ON &&
    cmake --build "$build/libfuzzer" --target "libfuzzer_$kind"
}

coverage_guided() {
  local log=$kept/libfuzzer-$kind.log corpus=$build/libfuzzer/corpus-$kind
  mkdir -p "$corpus"
  "$build/libfuzzer/bin/libfuzzer_$kind" "$corpus" -max_total_time="$seconds" -seed="$seed" \
    -artifact_prefix="$kept/$kind-" -timeout=60 -rss_limit_mb=8192 -max_len=16384 -len_control=0 \
    -print_final_stats=1 >"$log" 2>&1 || {
    status=1
    tail -40 "$log"
  }
  awk -v kind="$kind" '/^stat::number_of_executed_units/ { n = $2 }
    END { print kind " under libFuzzer: " n + 0 " executions" }' "$log"
}

if command -v clang++-19 >/dev/null && build_libfuzzer >"$kept/build.log" 2>&1; then
  coverage_guided
else
  echo "fuzz: without libFuzzer; run: scripts/setup.sh fuzz (messages in $kept/build.log)"
fi
own "$build/bin/fuzz_$kind"
if [ "$kind" = operations ]; then
  "$build/bin/fuzz_malloc" --write-plan "$kept/fuzz_malloc.plan"
  own env LD_PRELOAD="$build/lib/libhalo.so" HALO_PLAN="$kept/fuzz_malloc.plan" \
    "$build/bin/fuzz_malloc"
fi
exit $status
