#!/bin/bash
# Builds the native parts into build/ and leaves the command ready as bin/halo.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/build.ninja ] || cmake -S . -B build -G Ninja >build/configure.log 2>&1 || {
  tail -20 build/configure.log >&2
  echo "build: cmake failed; all of its messages are in build/configure.log" >&2
  exit 1
}
cmake --build build

mkdir -p bin
cp scripts/halo.in bin/halo.new
chmod +x bin/halo.new
mv bin/halo.new bin/halo

# The compilers of programs to be traced.
wrapper() {
  sed "s|@COMPILER@|$2|" scripts/halo-cc.in >"bin/$1.new"
  chmod +x "bin/$1.new"
  mv "bin/$1.new" "bin/$1"
}
wrapper halo-cc '${HALO_CLANG:-clang-19}'
wrapper halo-c++ '${HALO_CLANGXX:-clang++-19}'
