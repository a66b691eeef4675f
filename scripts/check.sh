#!/bin/bash
# The quick checks of a built checkout: format and types, the native tests that take less than a
# second each, and the Python tests that need nothing built.
set -euo pipefail
cd "$(dirname "$0")/.."
slow='^fuzz_|^watch_reference|^Bursts\.|^Distribution\.SurvivesEveryChangedByte|^HotStreams\.AreWhatTheReferenceFinds'
slow+='|^Packing\.(ProgramsBecomeFewBytes|ADamagedBlock)|^TraceReader\.(NothingChanged|HandsOutAllWhole)'
scripts/lint.sh
ctest --test-dir build -j "$(nproc)" -E "$slow" --output-on-failure --progress --no-tests=ignore
.venv/bin/python3 -m pytest -q -n auto --maxprocesses=4 tests/python/unit "$@"
