#!/bin/bash
# Installs what is missing for the given purposes: setup.sh build|demo|test|bench|soak|fuzz|projects ...
# Asks dpkg first, so that a repeated run does nothing and needs neither network nor root.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

say() { echo "setup: $*" >&2; }
give_up() { say "$*"; exit 1; }

missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      echo "$package"
  done
}

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq "$@" >>build/setup.log 2>&1; }

install_packages() {
  command -v dpkg-query >/dev/null || give_up "this is not a Debian system; install by hand: $*"
  local missing
  mapfile -t missing < <(missing_of "$@" | sort -u)
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      give_up "no right to install packages; as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing: ${missing[*]}"
  # The package lists of a fresh machine are empty or old: fetch them only if needed.
  apt install --no-install-recommends "${missing[@]}" && return 0
  apt update || true
  apt install --no-install-recommends "${missing[@]}" ||
    give_up "apt-get could not install ${missing[*]}; its messages are in build/setup.log"
}

# /usr/bin/python3, not the first one in PATH: that may be another version, or none of Debian's.
make_venv() {
  local extra=$1 stamp=.venv/.halo-$1
  [ "$stamp" -nt pyproject.toml ] && [ -x .venv/bin/python3 ] && return 0
  say "setting up .venv"
  [ -x .venv/bin/python3 ] || /usr/bin/python3 -m venv .venv
  .venv/bin/python3 -m pip install --quiet --disable-pip-version-check --use-pep517 -e ".$extra" ||
    give_up "pip could not install the Python packages; it needs the network the first time"
  mkdir -p .venv && touch "$stamp"
}

mkdir -p build
packages=()
extra=""
for purpose in "${@:-build}"; do
  case $purpose in
    build) packages+=("${build_packages[@]}") ;;
    demo) packages+=("${demo_packages[@]}") ;;
    test) packages+=("${test_packages[@]}"); extra="[dev,spark]" ;;
    bench) packages+=("${bench_packages[@]}") ;;
    soak) packages+=("${soak_packages[@]}") ;;
    fuzz) packages+=("${fuzz_packages[@]}") ;;
    projects) packages+=("${projects_packages[@]}") ;;
    *) give_up "no such purpose: $purpose" ;;
  esac
done
install_packages "${packages[@]}"
make_venv "$extra"
