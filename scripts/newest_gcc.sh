#!/bin/bash
# Compiles all C and C++ with the newest gcc of Debian's releases, with warnings as errors. All that is kept is a
# stamp for each file, in build/newest-gcc, so that only files that changed are compiled again. On an older release,
# the compiler is unpacked there (by the network, once), and the system is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/bare_system.sh

release=trixie version=14
folder=$PWD/build/newest-gcc
system=$folder/system

# apt-get with package lists of its own, for a system in which nothing is installed.
own_apt() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/sources" -o Dir::State="$folder/state" \
    -o Dir::State::status="$folder/state/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

unpack_compiler() {
  local package
  rm -rf "$folder"
  mkdir -p "$folder"/{sources,state/lists/partial,cache/archives/partial} "$system.new"
  touch "$folder/state/status"
  write_sources "$release" "$folder/sources"
  own_apt update
  own_apt install -y --download-only --no-install-recommends "g++-$version"
  for package in "$folder"/cache/archives/*.deb; do dpkg-deb -x "$package" "$system.new"; done
  rm -rf "$folder/cache" "$folder/state"
  mv "$system.new" "$system"
}

# The unpacked compiler needs the C library of its release, and gets it by that library's loader.
write_compilers() {
  local libraries=$system/usr/lib/x86_64-linux-gnu:$system/lib/x86_64-linux-gnu loader name
  loader=$(find "$system" -name ld-linux-x86-64.so.2 -type f | head -1)
  for name in gcc g++; do
    cat >"$folder/$name" <<END
#!/bin/sh
exec $loader --library-path $libraries $system/usr/bin/x86_64-linux-gnu-$name-$version \\
  -wrapper $loader,--library-path,$libraries "\$@"
END
    chmod +x "$folder/$name"
  done
}

if command -v "g++-$version" >/dev/null; then
  mkdir -p "$folder"
  ln -sf "$(command -v "gcc-$version")" "$folder/gcc"
  ln -sf "$(command -v "g++-$version")" "$folder/g++"
else
  [ -d "$system" ] || unpack_compiler || {
    echo "newest_gcc: g++-$version of $release cannot be had; this needs the network the first time" >&2
    exit 1
  }
  write_compilers
fi

# Some warnings need optimisation, -Wdangling-pointer for one. What users do not run goes without it, as that
# takes half of the time.
python3 - build/compile_commands.json "$folder" <<'END'
import json
import shlex
import sys
from pathlib import Path

folder = Path(sys.argv[2])
lines = [
    "rule compile",
    f"  command = cd $directory && {folder}/$compiler $flags -g0 -Werror -Wno-invalid-pch -MMD -MF $out.d $how $in && touch $out",
    "  depfile = $out.d",
    "  deps = gcc",
    "  description = $in",
]
# Not the precompiled headers, which CMake lists as sources, nor assembly.
sources = {
    entry["file"]: entry
    for entry in json.load(open(sys.argv[1]))
    if entry["file"].endswith((".c", ".cc"))
}
for number, entry in enumerate(sources.values()):
    words = shlex.split(entry["command"])
    is_product = Path(entry["file"]).is_relative_to(Path("src").resolve())
    flags = words[1 : words.index("-o")]
    lines += [
        f"build {folder}/stamps/{number}: compile {entry['file']}",
        f"  directory = {entry['directory']}",
        f"  compiler = {'g++' if '++' in Path(words[0]).name else 'gcc'}",
        f"  flags = {shlex.join(flags)}",
        f"  how = {'-O1 -S -o /dev/null' if is_product else '-fsyntax-only'}",
    ]
(folder / "stamps").mkdir(exist_ok=True)
(folder / "build.ninja").write_text("\n".join(lines) + "\n")
END
exec ninja -C "$folder" -k 0 --quiet
