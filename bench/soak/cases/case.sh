# Sourced by every case, which defines prepare, train and run; calls the one that is asked for.
#
# SOAK_INPUTS is the folder that prepare fills, SOAK_REPOSITORY this checkout. In `train`,
# `record PROG ARGS` runs a program under the recorder, for its profile in SOAK_PROFILES.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC

recorded=0
record() {
  recorded=$((recorded + 1))
  # -P: not the halo of a checkout that the case works in.
  "$SOAK_PYTHON" -P -m halo record -o "$SOAK_PROFILES/$recorded.profile" -- "$@"
}
