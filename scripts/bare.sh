#!/bin/bash
# Runs commands in a clone of HEAD on bare Debian systems, as a new user would: bare.sh [--release RELEASE] ...
# [--in FOLDER] [COMMAND ...]. The commands run one after the other in each system, by default `make demo` and
# `make test` in bookworm and in trixie. A system has what `debootstrap --variant=minbase` installs, and make,
# git and ca-certificates. It is made new for each call, from a copy that is kept in FOLDER, by default
# /var/tmp/halo-bare. Needs root, the network and 15 GB. The exit status is 0 if that of all commands is.
set -euo pipefail
source "$(dirname "$0")/bare_system.sh"
enter_namespaces "$@"
cd "$(dirname "$0")/.."

releases=() folder=/var/tmp/halo-bare
while [[ ${1:-} == -* ]]; do
  case $1 in
    --release) releases+=("${2:?}") ;;
    --in) folder=$(realpath -m "${2:?}") ;;
    *) echo "bare: usage: bare.sh [--release RELEASE] ... [--in FOLDER] [COMMAND ...]" >&2; exit 2 ;;
  esac
  shift 2
done
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
[ $# -gt 0 ] || set -- 'make demo' 'make test'
trap 'exit 130' INT
trap 'exit 143' TERM

# RELEASE: a new system at `root`, with the clone in it.
begin() {
  local base=$folder/$1.base
  root=$folder/$1
  mkdir -p "$folder"
  rm -rf --one-file-system "$root" "$base.new"
  if [ ! -d "$base" ]; then
    echo "bare: $1: debootstrap"
    make_system "$1" "$base.new" make,git >"$folder/$1-debootstrap.log" 2>&1 ||
      { tail "$folder/$1-debootstrap.log" >&2; return 1; }
    mv "$base.new" "$base"
  fi
  cp -a --reflink=auto "$base" "$root"
  mount_all "$root"
  git clone --quiet --no-hardlinks . "$root/root/halo"
}

results=() status=0
for release in "${releases[@]}"; do
  begin "$release"
  for command in "$@"; do
    start=$SECONDS ended=0
    echo "bare: $release: $command"
    # shellcheck disable=SC2016 # the inner shell expands it
    enter "$root" bash -c 'cd ~/halo && eval "$1"' bare "$command" </dev/null || ended=$?
    results+=("bare: $release: $command: status $ended after $((SECONDS - start)) s")
    echo "${results[-1]}"
    [ $ended = 0 ] || status=1
  done
done
echo
printf '%s\n' "${results[@]}"
exit $status
