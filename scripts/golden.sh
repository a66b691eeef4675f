#!/bin/bash
# Counts the instructions of the runtime's fast paths and compares them with the golden file;
# `golden.sh --update` writes the file again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${HALO_BUILD:-build}
cmake --build "$build" --target halo golden-counter golden-fast-paths >&2
exec .venv/bin/python3 tests/golden/fast_paths.py "$build" "$@"
