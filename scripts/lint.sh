#!/bin/bash
# Checks the format and the types of all code; `lint.sh --fix` corrects the format.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin

mapfile -t native < <(find src bench fuzz tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' -o -name '*.hpp')
python=(halo tests bench scripts)
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${native[@]}"
  $bin/ruff check --quiet --fix "${python[@]}"
  $bin/ruff format --quiet "${python[@]}"
  exit
fi
find scripts bench -name '*.sh' -print0 | xargs -0 shellcheck --shell=bash --external-sources --source-path=SCRIPTDIR --severity=warning
shellcheck --severity=warning .ci/run scripts/*.in scripts/packaging/debian/{halo.in,postinst,prerm}
clang-format-19 --dry-run -Werror "${native[@]}"
$bin/ruff check --quiet "${python[@]}"
$bin/ruff format --quiet --check "${python[@]}"
$bin/mypy --no-error-summary
$bin/python scripts/generate_layouts.py --check
