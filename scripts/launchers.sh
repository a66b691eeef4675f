# The commands of a checkout and of an installed copy; sourced by build.sh and install.sh.
# shellcheck shell=bash

# TEMPLATE FILE [SED EXPRESSION ...]: an executable file, replaced in one step.
make_launcher() {
  local template=$1 file=$2
  shift 2
  sed "${@:---expression=}" "$template" >"$file.new"
  chmod +x "$file.new"
  mv "$file.new" "$file"
}

# FOLDER LIBRARIES: the compilers of programs to be traced; LIBRARIES is relative to FOLDER.
make_compilers() {
  make_launcher scripts/halo-cc.in "$1/halo-cc" -e "s|@VARIABLE@|HALO_CLANG|; s|@COMPILER@|clang-19|; s|@LIBRARIES@|$2|"
  make_launcher scripts/halo-cc.in "$1/halo-c++" -e "s|@VARIABLE@|HALO_CLANGXX|; s|@COMPILER@|clang++-19|; s|@LIBRARIES@|$2|"
}

# FOLDER REPAIR PACKAGES: what the package in a copy installed as FOLDER reads (halo/base/settings.py).
# REPAIR and PACKAGES are the commands that bring missing parts, and a missing Python package.
describe_installation() {
  local commit
  commit=$(.venv/bin/python3 -c 'from halo.base import settings, version; print(version.commit_of(settings.read_settings()))')
  printf '{"commit": "%s", "repair": "%s", "packages": "%s"}\n' "$commit" "$2" "$3" >"$1/installation.json"
}
