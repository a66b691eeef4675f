# ripgrep: searches a copy of this checkout's sources, by threads, patterns and kinds of files.
source "$(dirname "$0")/case.sh"

prepare() {
  local folder
  for folder in src docs halo tests/programs tests/python bench; do
    mkdir -p "$SOAK_INPUTS/tree/$folder"
    cp -r "$SOAK_REPOSITORY/$folder/." "$SOAK_INPUTS/tree/$folder"
  done
}

# Much less than what is run: what it does with its objects there is seen for the first time.
train() {
  cd "$SOAK_INPUTS/tree"
  record rg -c return docs >"$OLDPWD/out"
}

run() {
  local number
  cd "$SOAK_INPUTS/tree"
  for number in 1 2 3; do
    rg -j$number -n --sort path '(foo|halo|runtime).*[0-9]+' docs src
    rg -j2 -c --sort path '\w+\s*\(' .
    rg -j2 -uu --files . | sort
    rg -j2 --no-heading -n '[[:upper:]]{4,}' src | sort | sha256sum
  done
  rg --stats --sort path -w return src | rg -v seconds
  rg -i -U --multiline-dotall 'struct \w+ \{.*?\};' src tests --sort path | sha256sum
  rg -C3 -t py 'def (\w+)' -r 'fn $1' --sort path | sha256sum
  rg --json -o '\p{L}+' docs --sort path | sed 's/"elapsed[^}]*}//g' | sha256sum
  rg -F -f <(rg -o --no-filename '\b\w{9,}\b' src/plan | sort -u) --count-matches --sort path .
  rg -l -v 'e' . | sort
  rg --type-list | sha256sum
  rg 'no such (words|at all)$' src || echo "status $?"
}

"$1"
