# perl: several scripts, each a process of its own that forks or starts threads where it says so.
source "$(dirname "$0")/case.sh"
scripts=$(dirname "$0")/perl

prepare() { :; }

train() {
  for script in "$scripts"/*.pl; do
    record perl "$script" 1 >"$(basename "$script").out"
  done
}

run() {
  for script in "$scripts"/*.pl; do
    echo "== $(basename "$script")"
    perl "$script" 12
  done
}

"$1"
