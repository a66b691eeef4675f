#!/bin/bash
# Builds the newest mimalloc and snmalloc, as build/allocators/libmimalloc-3.so and libsnmalloc.so, for
# `halo run --allocator` and for the evaluation. Debian's releases have older ones, or none. cargo brings the
# sources, in the versions that bench/studies/allocators/Cargo.toml names.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "newest-allocators: cargo is missing; run: scripts/setup.sh allocators" >&2; exit 2; }

out=build/allocators work=build/allocators/sources
stamp=$out/made
[ ! "$stamp" -nt bench/studies/allocators/Cargo.toml ] || [ ! "$stamp" -nt "$0" ] || exit 0
mkdir -p "$work"
cp bench/studies/allocators/Cargo.toml bench/studies/allocators/nothing.rs "$work"

make_all() {
  (cd "$work" && cargo vendor --versioned-dirs vendor)
  local mimalloc snmalloc
  mimalloc=$(echo "$work"/vendor/libmimalloc-sys-*/c_src/mimalloc/v3)
  snmalloc=$(echo "$work"/vendor/snmalloc-sys-*/upstream)
  # As mimalloc's own build makes its shared library; the crate lacks parts of that build.
  gcc -O3 -DNDEBUG -shared -fPIC -pthread -fvisibility=hidden -ftls-model=initial-exec -fno-builtin-malloc \
    -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -DMI_MALLOC_OVERRIDE -I "$mimalloc/include" \
    "$mimalloc/src/static.c" -o "$out/libmimalloc-3.so"
  cmake -S "$snmalloc" -B "$work/snmalloc" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSNMALLOC_BUILD_TESTING=OFF
  ninja -C "$work/snmalloc" snmallocshim
  cp "$work/snmalloc/libsnmallocshim.so" "$out/libsnmalloc.so"
}
make_all >"$out/build.log" 2>&1 || { tail "$out/build.log" >&2; echo "newest-allocators: all messages are in $out/build.log" >&2; exit 1; }
touch "$stamp"
echo "newest-allocators: $out/libmimalloc-3.so and $out/libsnmalloc.so"
