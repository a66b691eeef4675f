#!/bin/bash
# Checks the format and the types of everything; `lint.sh --fix` puts the format right.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin

mapfile -t native < <(find src bench tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp')
python=(halo tests bench)
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${native[@]}"
  $bin/ruff check --quiet --fix "${python[@]}"
  $bin/ruff format --quiet "${python[@]}"
  exit
fi
clang-format-19 --dry-run -Werror "${native[@]}"
$bin/ruff check --quiet "${python[@]}"
$bin/ruff format --quiet --check "${python[@]}"
$bin/mypy --no-error-summary
