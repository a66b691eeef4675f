#!/bin/bash
# Yardımcı and Kaeli's evaluation of the bundled programs, and the misses of workloads whose objects
# compete for cache sets: runs missing simulations, then draws the figures and writes the tables of
# docs/evaluation/conflicts.md. Ends with status 1 if a threshold is missed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
out=docs/evaluation
heap=$out/heap
classes=$out/classes
timed=$out/results
programs=(hospital scene mst mesh pagerank rbtree server)
workloads=(sessions-240 nodes-4080 lattice-510 sessions-256 nodes-4096 lattice-512)
machines=(x86-48k-12 x86-32k-8 alpha21264)
layouts=glibc,packed,same,spread,conflict
status=0

$python bench/heap_shape.py simulate "$heap" "${programs[@]}"
$python bench/conflicts.py misses --kept "$classes" "${workloads[@]}" || status=1
$python bench/heap_shape.py check "$heap" || status=1

plot() {
  local figure=$1 file=$2
  shift 2
  bin/halo plot "$figure" "$@" -o "$out/$file"
}
simulated=("${programs[@]/#/$heap/}")
simulated=("${simulated[@]/%/.json}")
for ending in svg md; do
  plot heap-misses "heap-misses.$ending" "${simulated[@]}"
  plot cache-sweep "cache-sweep.$ending" "${simulated[@]}"
done
plot footprint footprint.md "${simulated[@]}"
for machine in "${machines[@]}"; do
  folders=("${workloads[@]/#/$classes/$machine/}")
  plot conflicts "conflicts-$machine.md" "${folders[@]}" --configurations "$layouts"
done
plot conflicts conflicts.svg "${folders[@]}" --configurations "$layouts"
measured=("${programs[@]/#/$timed/}")
measured=("${measured[@]/%/.json}")
plans="halo,halo plan,hot-streams plan,dense plan"
plot configurations speedup-trimmed.md "${measured[@]}" --metric time@negimprovement \
  --baseline glibc --configurations "$plans" --trimmed
plot speedup speedup-trimmed.svg "${measured[@]}" --baseline glibc --configurations "$plans" \
  --trimmed
exit "$status"
