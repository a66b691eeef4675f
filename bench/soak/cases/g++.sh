# g++: this project's C++ workloads; object files, the programs and what they print are the result.
source "$(dirname "$0")/case.sh"

sources=$SOAK_INPUTS/sources

prepare() { cp -r "$SOAK_REPOSITORY/bench/programs" "$sources"; }

compile() { g++ -std=c++20 -O2 -g -I"$sources" "$@"; }

train() {
  compile -E "$sources/mesh/main.cc" -o unit.ii
  record "$(g++ -print-prog-name=cc1plus)" -quiet -fpreprocessed -std=gnu++20 -O1 -g unit.ii -o unit.s
  record as unit.s -o unit.o
  record ld -r unit.o -o linked.o
}

run() {
  local name file
  gcc -O2 -I"$sources" -c "$sources/common/args.c" -o args.o
  for name in server rbtree mesh; do
    for file in "$sources/$name"/*.cc; do
      compile -c "$file" -o "$name-$(basename "$file").o"
    done
    compile "$name"-*.o args.o -o "$name"
  done
  ./server 2000 50 100 2 1
  ./rbtree 500 1000 200 1
  ./mesh 20 20 300 1
}

"$1"
