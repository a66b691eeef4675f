#!/bin/bash
# Installs the build into a prefix: install.sh PREFIX. The installed copy does not need the checkout.
# With DESTDIR, it is written below that folder, from where it may be moved to the prefix.
set -euo pipefail
[ $# = 1 ] || { echo "install: usage: install.sh PREFIX" >&2; exit 2; }
prefix=${DESTDIR:-}$(realpath -m "$1")
unset DESTDIR  # cmake would add it once more
cd "$(dirname "$0")/.."
source scripts/launchers.sh
source scripts/venv.sh

mkdir -p "$prefix/bin" || { echo "install: $prefix cannot be written" >&2; exit 1; }
cmake --install build --prefix "$prefix" >build/install.log
venv=$prefix/lib/halo/venv
prepare_venv "$venv"
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --use-pep517 --force-reinstall --no-deps .
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check .
describe_installation "$prefix/lib/halo" 'make install' 'make install'
make_launcher scripts/installed.in "$prefix/bin/halo"
make_compilers "$prefix/bin" ../lib/halo/lib
.venv/bin/python3 scripts/packaging/generate_manual.py "$prefix/share/man/man1"
.venv/bin/python3 scripts/packaging/generate_completions.py "$prefix/share"
echo "install: $prefix/bin has halo, halo-cc and halo-c++"
