#!/bin/bash
# Allocators, plans and custom allocators on aged heaps: measures what is not measured yet, then
# draws the figure and writes the table of docs/evaluation.md.
set -euo pipefail
cd "$(dirname "$0")/.."
measured=results/aged
kept=docs/evaluation/aged
out=docs/evaluation

# age NAME VARIANT TRAIN-ARGS -- ARGS
age() {
  local name=$1 variant=$2 train=()
  shift 2
  while [ "$1" != -- ]; do
    train+=("$1")
    shift
  done
  shift
  [ ! -f "$measured/$name/results.json" ] || return 0
  mkdir -p "$measured/$name"
  bin/halo record -o "$measured/$name/train.profile" -- "build/bench/$name" "${train[@]}"
  bin/halo plan "$measured/$name/train.profile" -o "$measured/$name/halo.plan"
  bin/halo age --occupancies 0.99,0.95,0.9,0.75,0.5 --custom "build/bench/$variant" \
    --plan "$measured/$name/halo.plan" --groups --under glibc,jemalloc \
    --results "$measured/$name" -- "build/bench/$name" "$@"
}

age hospital hospital-freelist 7 90 1 -- 7 120 2
age scene scene-region 150000 70 1 -- 500000 100 2
.venv/bin/python bench/keep_results.py "$measured" "$kept"
bin/halo plot aged "$kept"/*.json -o "$out/aged.md"
for name in hospital scene; do
  bin/halo plot occupancy "$kept/$name.json" -o "$out/occupancy-$name.svg"
done
