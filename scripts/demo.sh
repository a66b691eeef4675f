#!/bin/bash
# `halo run` on two programs: a workload of ours and an unmodified program of Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."
ours=hospital
debians=xsltproc

mkdir -p results
bin/halo bench "$ours" "$debians" --trials "${TRIALS:-7}" --json results/demo.json
cat <<'TEXT'

What you saw: each program was recorded once on a small input; halo made plans that place its heap
objects, kept the one that was fastest on that small input (or none, where none helps), and timed
the program on another, larger input under the baseline allocators and under halo, interleaved.

Next, your own program, with a small input to learn from and a large one to measure:

    bin/halo run -- PROG SMALL-ARGS -- PROG LARGE-ARGS

TEXT
