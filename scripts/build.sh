#!/bin/bash
# Builds the native parts into build/ and leaves the command ready as bin/halo.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/launchers.sh

[ -f build/build.ninja ] || cmake -S . -B build -G Ninja >build/configure.log 2>&1 || {
  tail -20 build/configure.log >&2
  echo "build: cmake failed; all of its messages are in build/configure.log" >&2
  exit 1
}
cmake --build build

mkdir -p bin
make_launcher scripts/halo.in bin/halo
make_compilers bin ../build/lib
