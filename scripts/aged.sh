#!/bin/bash
# Allocators, plans and custom allocators on aged heaps: runs missing measurements, then
# draws the figures and writes the table of docs/evaluation/aged-heaps.md.
set -euo pipefail
cd "$(dirname "$0")/.."
measured=results/aged
simulated=results/aged-simulated
kept=results/kept/aged
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
  bin/halo study heap age --occupancy 0.99,0.95,0.9,0.75,0.5 --custom "build/bench/$variant" \
    --plan "$measured/$name/halo.plan" --groups --under glibc,jemalloc \
    --results "$measured/$name" -- "build/bench/$name" "$@"
}

# simulate NAME VARIANT ARGS: one run of each configuration, on a smaller input
simulate() {
  local name=$1 variant=$2
  shift 2
  [ ! -f "$simulated/$name/results.json" ] || return 0
  mkdir -p "$simulated/$name"
  bin/halo study heap age --occupancy 0.95,0.75,0.5 --trials 1 --no-split --simulate \
    --custom "build/bench/$variant" --plan "$measured/$name/halo.plan" --groups \
    --results "$simulated/$name" -- "build/bench/$name" "$@"
}

age hospital hospital-freelist 7 90 1 -- 7 120 2
age scene scene-region 150000 70 1 -- 500000 100 2
simulate hospital hospital-freelist 6 90 1
simulate scene scene-region 100000 50 1
.venv/bin/python -m bench.shared.keep_results "$measured" "$kept"
.venv/bin/python -m bench.shared.keep_results "$simulated" "$kept-simulated"
for name in aged aged-simulated; do
  .venv/bin/python -m bench.shared.evaluation_data pack "results/kept/$name" "evaluation/$name.parquet"
done
bin/halo plot aged "$kept"/*.json -o "$out/aged.md"
for name in hospital scene; do
  bin/halo plot occupancy "$kept/$name.json" -o "$out/occupancy-$name.svg"
done
bin/halo plot occupancy "$kept-simulated"/*.json --metric L2-misses@relative \
  -o "$out/occupancy-misses.svg"
