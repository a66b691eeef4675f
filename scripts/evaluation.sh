#!/bin/bash
# What halo says to use for each of 27 programs, and the HALO paper's evaluation: runs missing
# measurements, then draws the figures and writes the tables in docs/evaluation.
set -euo pipefail
cd "$(dirname "$0")/.."
measured=results/evaluation
kept=results/kept/results
data=(.venv/bin/python -m bench.shared.evaluation_data)
out=docs/evaluation
distances=8,32,128,512,2048,8192,32768
with_distances=(hospital)
with_graph=(hospital scene povray)
plans="halo plan,halo plan by selectors,hot-streams plan,one-pool plan,dense plan,random-pools plan"

answers=results/answers
answered=(hospital scene mst mesh pagerank rbtree server tree lists hashindex jq xsltproc dot sqlite3 python3 povray
  xalan xmllint link-parser cc1plus clang cppcheck z3 gringo yosys qpdf swipl)
bin/halo bench --allocator build/allocators/libmimalloc-3.so --allocator build/allocators/libsnmalloc.so \
  --results "$answers" "${answered[@]}"
.venv/bin/python -m bench.shared.keep_results --answers "$answers" results/kept/answers
"${data[@]}" pack results/kept/answers evaluation/answers.parquet
for ending in svg md; do
  bin/halo plot answers results/kept/answers/*.json -o "$out/answers.$ending"
done

bin/halo study eval compare --all --results "$measured"
bin/halo study eval compare "${with_distances[@]}" --distance "$distances" --results "$measured"
.venv/bin/python -m bench.shared.keep_results "$measured" "$kept"
"${data[@]}" pack "$kept" evaluation/results.parquet

plot() {
  local figure=$1 file=$2
  shift 2
  bin/halo plot "$figure" "$@" -o "$out/$file"
}
all=("$kept"/*.json)
for name in "${with_graph[@]}"; do
  plot affinity-graph "affinity-$name.svg" "$measured/$name"
done
plot distances distances.svg "${with_distances[@]/#/$measured/}"
plot misses misses.svg "${all[@]}" --configurations "halo plan,hot-streams plan"
plot speedup speedup.svg "${all[@]}" --configurations "halo plan,hot-streams plan"
plot random-pools random-pools.svg "${all[@]}"
plot model model.svg "${all[@]}"
plot fragmentation fragmentation.md "${all[@]}" --configurations "halo plan"
plot configurations time.md "${all[@]}"
plot configurations training-time.md "${all[@]}" --input training --configurations "$plans"
for event in L1D-misses L2-misses STLB-misses modelled-cycles; do
  plot configurations "$event.md" "${all[@]}" --metric "$event@negimprovement"
done
