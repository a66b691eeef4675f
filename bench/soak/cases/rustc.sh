# rustc: compiles a crate of its own in four ways; libraries, programs and what they print.
source "$(dirname "$0")/case.sh"
crate=$(dirname "$0")/rustc
rustc=/usr/bin/rustc  # Debian's: it uses the C library's malloc

prepare() { :; }

train() {
  record $rustc --edition 2021 --crate-type lib -O "$crate/shapes.rs"
  record $rustc --edition 2021 -C codegen-units=1 "$crate/main.rs" --extern shapes=libshapes.rlib \
    --emit=metadata,obj
}

run() {
  local level
  for level in 0 1 2 3; do
    mkdir "level$level"
    $rustc --edition 2021 --crate-type lib -C "opt-level=$level" "$crate/shapes.rs" \
      --out-dir "level$level"
    $rustc --edition 2021 -g -C "opt-level=$level" "$crate/main.rs" \
      --extern "shapes=level$level/libshapes.rlib" -o "level$level/main"
    "level$level/main" 300
  done
  $rustc --edition 2021 --test "$crate/shapes.rs" -o tests
  ./tests --test-threads 2 | grep -v 'finished in' | sort
  rm tests  # by chance another order of its parts
}

"$1"
