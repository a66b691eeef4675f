#!/bin/bash
# `halo run` on two programs: a workload of ours and an unmodified program of Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."
ours=hospital
debians=xsltproc

mkdir -p results
bin/halo bench "$ours" "$debians" ${TRIALS:+--trials "$TRIALS"} --json results/demo.json
cat <<'TEXT'

What you saw: each program was recorded once on a small input, and halo made plans that place its
heap objects. On a larger input it compared allocators, their settings and these plans. On a third,
which no decision had seen, it timed what it advises, beside the program as it runs today.

Next, your own program; one input is enough:

    bin/halo run -- PROG ARGS

TEXT
