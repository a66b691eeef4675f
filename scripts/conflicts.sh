#!/bin/bash
# Yardımcı and Kaeli's evaluation of the bundled programs, and the misses of workloads whose objects
# compete for cache sets: runs missing simulations, then draws the figures and writes the tables of
# docs/evaluation/conflicts.md. Ends with status 1 if a threshold is missed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
out=docs/evaluation
kept=results/kept
heap=$kept/heap
classes=$kept/classes
timed=$kept/results
tables=results/conflicts
programs=(hospital scene mst mesh pagerank rbtree server)
workloads=(sessions-240 nodes-4080 lattice-510 sessions-256 nodes-4096 lattice-512)
machines=(x86-48k-12 x86-32k-8 alpha21264)
layouts=glibc,packed,same,spread,conflict
status=0

for name in heap classes results; do
  $python -m bench.shared.evaluation_data unpack "evaluation/$name.parquet" "$kept/$name"
done
$python -m bench.studies.heap_shape simulate "$heap" "${programs[@]}"
$python -m bench.studies.conflicts misses "${workloads[@]}" --kept "$classes" || status=1
$python -m bench.studies.heap_shape check "$heap" || status=1
for name in heap classes; do
  $python -m bench.shared.evaluation_data pack "$kept/$name" "evaluation/$name.parquet"
done

# image FIGURE NAME RESULT... [OPTIONS]; table likewise
image() {
  local figure=$1 name=$2
  shift 2
  bin/halo plot "$figure" "$@" -o "$out/$name.svg"
}
table() {
  local figure=$1 name=$2
  shift 2
  bin/halo plot "$figure" "$@" -o "$tables/$name.md"
}
mkdir -p "$tables"
simulated=("${programs[@]/#/$heap/}")
simulated=("${simulated[@]/%/.json}")
for figure in heap-misses cache-sweep; do
  image "$figure" "$figure" "${simulated[@]}"
  table "$figure" "$figure" "${simulated[@]}"
done
table footprint footprint "${simulated[@]}"
for machine in "${machines[@]}"; do
  folders=("${workloads[@]/#/$classes/$machine/}")
  table conflicts "conflicts-$machine" "${folders[@]}" --configurations "$layouts"
done
image conflicts conflicts "${folders[@]}" --configurations "$layouts"
measured=("${programs[@]/#/$timed/}")
measured=("${measured[@]/%/.json}")
plans="halo,halo plan,hot-streams plan,dense plan"
folders=()
for name in sessions-240 sessions-256; do
  folders+=("$classes/x86-32k-8/$name")
done
image sets sets "${folders[@]}" --configurations glibc,conflict
trimmed=(--baseline glibc --configurations "$plans" --trimmed)
table configurations speedup-trimmed "${measured[@]}" --metric time@negimprovement "${trimmed[@]}"
image speedup speedup-trimmed "${measured[@]}" "${trimmed[@]}"
$python -m bench.studies.insert_tables "$out/conflicts.md" "$tables"
exit "$status"
