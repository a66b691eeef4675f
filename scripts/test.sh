#!/bin/bash
# All checks: format and types, the native tests, the same under sanitizers, the Python tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/lint.sh
ctest --test-dir build --output-on-failure --progress --no-tests=ignore
scripts/sanitize.sh
# Files side by side, the tests of each one after the other.
.venv/bin/python3 -m pytest -q -n auto --maxprocesses=4 --dist loadfile "$@"
