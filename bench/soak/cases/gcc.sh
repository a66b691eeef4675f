# gcc: this project's C; the object files are the result.
source "$(dirname "$0")/case.sh"

sources=$SOAK_INPUTS/sources

prepare() {
  cp -r "$SOAK_REPOSITORY/bench/programs" "$sources"
  cp -r "$SOAK_REPOSITORY/bench/micro" "$sources/micro"
}

train() {
  local cc1
  cc1=$(gcc -print-prog-name=cc1)
  gcc -E -I"$sources" "$sources/mst/fib_heap.c" -o unit.i
  gcc -E -I"$sources" "$sources/hospital/main.c" -o main.i
  record "$cc1" -quiet -fpreprocessed -O2 -g unit.i -o unit.s
  record "$cc1" -quiet -fpreprocessed -O0 main.i -o main.s
  record as unit.s -o unit.o
  record ld -r unit.o -o linked.o
}

run() {
  local file level
  for file in "$sources"/{hospital,mst,common,micro}/*.c; do
    for level in 0 2 3; do
      gcc -std=gnu17 -Wall -Wextra -g -O$level -I"$sources" -c "$file" \
        -o "$(basename "$(dirname "$file")")-$(basename "$file").$level.o"
    done
  done
  gcc -r -flinker-output=rel ./hospital-*.2.o common-args.c.2.o -o hospital.o
}

"$1"
