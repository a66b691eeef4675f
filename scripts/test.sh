#!/bin/bash
# All checks: format, types, clang-tidy on what runs inside other programs, the native tests, the
# same under sanitizers, the Python tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/lint.sh
scripts/tidy.sh "$PWD/src/(runtime|interpose|plan)/" >build/tidy.log 2>&1 || { cat build/tidy.log; exit 1; }
ctest --test-dir build --output-on-failure --progress --no-tests=ignore
scripts/sanitize.sh
# Files side by side, the tests of each one after the other; the longest files, of tests of whole
# programs, first.
.venv/bin/python3 -m pytest -q -n auto --maxprocesses=4 --dist loadfile --no-loadscope-reorder "$@"
