# Java through JNI: threads of the virtual machine build and drop maps and strings of C++.
# It is not recorded: every small object is drawn a pool.
source "$(dirname "$0")/case.sh"
here=$(dirname "$0")/java

prepare() {
  local home
  home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
  g++ -std=c++20 -O2 -shared -fPIC "-I$home/include" "-I$home/include/linux" "$here/index.cc" \
    -o "$SOAK_INPUTS/libindex.so"
  javac -d "$SOAK_INPUTS" "$here/Index.java"
}

run() { java -Xmx256m -XX:-UsePerfData "-Djava.library.path=$SOAK_INPUTS" -cp "$SOAK_INPUTS" Index 40; }

"$1"
