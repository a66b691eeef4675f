#!/bin/bash
# Builds the native parts into build/ and leaves the command ready as bin/halo: build.sh [TARGET]. By default, it
# builds what the commands need and the bundled workloads; `everything` has tests, fuzzers and benchmarks, too;
# `main-job` has what `halo run` needs by default, and one workload.
# HALO_WERROR=ON makes warnings errors, in this build folder from now on.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/launchers.sh

# A build folder that came with a copied or moved checkout would compile the sources at its old place.
configured() {
  [ -f build/build.ninja ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" build/CMakeCache.txt &&
    { [ -z "${HALO_WERROR:-}" ] || grep -qxF "HALO_WERROR:BOOL=$HALO_WERROR" build/CMakeCache.txt; }
}

options=()
[ -z "${HALO_WERROR:-}" ] || options=("-DHALO_WERROR=$HALO_WERROR")
configured || cmake --fresh -S "$(pwd -P)" -B build -G Ninja "${options[@]}" >build/configure.log 2>&1 || {
  tail -20 build/configure.log >&2
  echo "build: cmake failed; all of its messages are in build/configure.log" >&2
  exit 1
}
cmake --build build --target "${1:-all}"

mkdir -p bin
make_launcher scripts/halo.in bin/halo
make_compilers bin ../build/lib
