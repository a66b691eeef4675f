# The Debian packages that each purpose needs; sourced by scripts/setup.sh. NAME|NAME: releases
# have different names, and the first that is installed or available counts.
# shellcheck shell=bash disable=SC2034
build_packages=(
  g++ cmake ninja-build binutils python3 python3-venv valgrind
  libjemalloc2 'libmimalloc2.0|libmimalloc3' 'libtcmalloc-minimal4|libtcmalloc-minimal4t64'
  libgtest-dev libunwind-dev libjsmn-dev libzydis-dev clang-19 llvm-19 llvm-19-dev libzstd-dev libxxhash-dev
)
demo_packages=(xsltproc jq)
deb_packages=(dpkg-dev)
test_packages=(
  dpkg-dev lintian
  clang-format-19 clang-tidy-19 libclang-rt-19-dev shellcheck musl-tools luajit nodejs python3-dev chromium
  jq xsltproc graphviz sqlite3 povray povray-includes
  'openjdk-17-jre-headless|openjdk-21-jre-headless' php-cli rustc
)
bench_packages=(
  jq xsltproc graphviz sqlite3 python3 povray povray-includes xalan libxml2-utils link-grammar g++-12
  clang-19 cppcheck z3 gringo yosys qpdf swi-prolog-nox linux-perf
)
soak_packages=(
  python3 'libpython3.11-testsuite|libpython3.13-testsuite' perl sqlite3 git gcc g++ nodejs xalan
  povray povray-includes ripgrep rustc golang-go ruby php-cli
  'openjdk-17-jdk-headless|openjdk-21-jdk-headless' sbcl redis-server postgresql
)
thesis_packages=(kyotocabinet-utils sjeng xalan xz-utils)
fuzz_packages=(clang-19 libclang-rt-19-dev)
projects_packages=(dpkg-dev autoconf automake libtool libonig-dev libpython3.11-testsuite libxml2-dev make cmake clang-19)
allocators_packages=(cargo g++ cmake ninja-build)
