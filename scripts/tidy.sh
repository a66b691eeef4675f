#!/bin/bash
# Checks C++ by clang-tidy (.clang-tidy): tidy.sh [REGEX ...] of source files; by default all of src.
set -euo pipefail
cd "$(dirname "$0")/.."

# Sources once each, without options of gcc that clang refuses.
mkdir -p build/tidy
python3 - build/compile_commands.json build/tidy/compile_commands.json <<'END'
import json
import sys

sources = {entry["file"]: entry for entry in json.load(open(sys.argv[1]))}
refused = ("-fno-ipa-icf", "-fno-tree-slp-vectorize", "-ffixed-rbp", "-mgeneral-regs-only")
for entry in sources.values():
    words = entry["command"].split(" ")
    entry["command"] = " ".join(w for w in words if w not in refused)
json.dump(list(sources.values()), open(sys.argv[2], "w"))
END
exec run-clang-tidy-19 -quiet -p build/tidy -extra-arg=-Wno-everything "${@:-$PWD/src/}"
