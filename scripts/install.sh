#!/bin/bash
# Installs the build into a prefix: install.sh PREFIX. The installed copy does not need the checkout.
set -euo pipefail
[ $# = 1 ] || { echo "install: usage: install.sh PREFIX" >&2; exit 2; }
prefix=$(realpath -m "$1")
cd "$(dirname "$0")/.."
source scripts/launchers.sh

mkdir -p "$prefix/bin" || { echo "install: $prefix cannot be written" >&2; exit 1; }
cmake --install build --prefix "$prefix" >build/install.log
venv=$prefix/lib/halo/venv
[ -x "$venv/bin/python3" ] || /usr/bin/python3 -m venv "$venv"
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --use-pep517 --force-reinstall --no-deps .
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check .
describe_installation "$prefix/lib/halo" 'make install' 'make install'
make_launcher scripts/installed.in "$prefix/bin/halo"
make_compilers "$prefix/bin" ../lib/halo/lib
.venv/bin/python3 scripts/packaging/generate_manual.py "$prefix/share/man/man1"
.venv/bin/python3 scripts/packaging/generate_completions.py "$prefix/share"
echo "install: $prefix/bin has halo, halo-cc and halo-c++"
