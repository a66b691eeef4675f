#!/bin/bash
# Installs missing packages for the given purposes: setup.sh build|deb|demo|test|bench|soak|thesis|fuzz|projects|allocators ...
# Queries dpkg first, so that a repeated run does nothing and needs neither network nor root.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
source scripts/venv.sh

say() { echo "setup: $*" >&2; }
give_up() { say "$*"; exit 1; }

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

is_known() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) == *"  Candidate: "[!\(]* ]]; }

# The NAME|NAME entries without an installed package.
missing_of() {
  local names name
  for names in "$@"; do
    for name in ${names//|/ }; do
      is_installed "$name" && continue 2
    done
    echo "$names"
  done
}

# Sets `chosen` to apt's names of them, and `unknown` to those that apt does not have.
choose_names() {
  local names name
  chosen=() unknown=()
  for names in "$@"; do
    for name in ${names//|/ }; do
      is_known "$name" && chosen+=("$name") && continue 2
    done
    unknown+=("${names//|/ or }")
  done
}

# Waits for another apt-get: a machine that has just started often updates itself. Files of configuration that
# the user has changed stay as they are.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" >>build/setup.log 2>&1
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    give_up "this is not a Debian system; install by hand, one of NAME|NAME each: $*"
  local missing chosen unknown as_root=()
  mapfile -t missing < <(missing_of "$@" | sort -u)
  [ ${#missing[@]} -gt 0 ] || return 0
  choose_names "${missing[@]}"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      give_up "no right to install packages; as root, run: apt-get install ${chosen[*]} ${unknown[*]}"
    as_root=(sudo)
  fi
  # The package lists of a fresh machine are empty or old: fetch them only if needed.
  if [ ${#unknown[@]} -gt 0 ]; then
    apt update || true
    choose_names "${missing[@]}"
  fi
  [ ${#unknown[@]} -eq 0 ] || give_up "apt knows no package ${unknown[*]}; halo is for Debian 12 and 13" \
    "and Ubuntu 24.04: see that their main component (Ubuntu: universe) is in /etc/apt, or install it by hand"
  say "installing: ${chosen[*]}"
  apt install --no-install-recommends "${chosen[@]}" && return 0
  apt update || true
  apt install --no-install-recommends "${chosen[@]}" || refuse "${chosen[@]}"
}

# Names the package that failed, if any.
refuse() {
  local name
  for name in "$@"; do
    apt install --no-install-recommends "$name" ||
      give_up "apt-get could not install $name; its messages are in build/setup.log"
  done
}

make_venv() {
  local extra=$1 stamp=.venv/.halo-$1
  was_made_elsewhere .venv && rm -rf .venv
  prepare_venv .venv
  [ "$stamp" -nt pyproject.toml ] && return 0
  say "setting up .venv"
  # pycachesim's C code is older than gcc 14, which reports this as an error.
  CFLAGS=-Wno-error=incompatible-pointer-types .venv/bin/python3 -m pip install --quiet --disable-pip-version-check --use-pep517 -e ".$extra" ||
    give_up "pip could not install the Python packages; it needs the network the first time"
  mkdir -p .venv && touch "$stamp"
}

mkdir -p build
packages=()
extra="[manual]"
for purpose in "${@:-build}"; do
  case $purpose in
    build) packages+=("${build_packages[@]}") ;;
    deb) packages+=("${deb_packages[@]}") ;;
    demo) packages+=("${demo_packages[@]}") ;;
    test) packages+=("${test_packages[@]}"); extra="[dev,learn,manual,spark]" ;;
    bench) packages+=("${bench_packages[@]}") ;;
    soak) packages+=("${soak_packages[@]}") ;;
    thesis) packages+=("${thesis_packages[@]}") ;;
    fuzz) packages+=("${fuzz_packages[@]}") ;;
    projects) packages+=("${projects_packages[@]}") ;;
    allocators) packages+=("${allocators_packages[@]}") ;;
    *) give_up "no such purpose: $purpose" ;;
  esac
done
install_packages "${packages[@]}"
make_venv "$extra"
[[ " $* " != *" allocators "* ]] || scripts/newest_allocators.sh
