"""Records small programs, and reads the parts that a recording leaves."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.engines import under_valgrind

Json = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    run: subprocess.CompletedProcess[str]
    parts: list[Json]  # by pid

    @property
    def part(self) -> Json:
        assert len(self.parts) == 1
        return self.parts[0]


@dataclass(frozen=True)
class Workshop:
    folder: Path

    def build(self, source: str, *flags: str, name: str = "prog", suffix: str = ".c") -> Path:
        path = self.folder / (name + suffix)
        path.write_text(source)
        binary = self.folder / name
        compiler = "g++" if suffix == ".cc" else "gcc"
        base = [compiler, "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-w"]
        # The compiler may leave out allocations whose contents it finds unused.
        allocators = ("malloc", "calloc", "realloc", "free")
        base += ["-fno-allocation-dce", *(f"-fno-builtin-{name}" for name in allocators)]
        subprocess.run([*base, path, "-o", binary, *flags], check=True)
        return binary

    def record(
        self,
        *command: str | Path,
        stdin: str = "",
        options: Sequence[str] = (),
        out: str = "",
        limit: int | None = None,
    ) -> Recording:
        """`limit`: on the address space, in bytes."""
        for old in self.folder.glob("part.*"):
            old.unlink()

        run = under_valgrind(
            [str(word) for word in command],
            self.folder,
            stdin,
            options,
            out or str(self.folder / "part"),
            limit,
        )
        assert not list(self.folder.glob("part.*.tmp"))
        parts = [json.loads(path.read_text()) for path in self.folder.glob("part.*.json")]
        for part in parts:
            check_part(part)
            assert part["producer"] == "valgrind"
        return Recording(run, sorted(parts, key=lambda part: part["pid"]))


def check_part(part: Json) -> None:
    """The invariants of any part (docs/profile-format.md)."""
    assert (part["format"], part["version"]) == ("halo-profile", 1)
    assert part["nodes"][0] == [0, -1]
    for at, (parent, frame) in enumerate(part["nodes"][1:], start=1):
        assert parent < at and 0 <= frame < len(part["frames"])
    for module, _offset, distance in part["frames"]:
        assert -1 <= module < len(part["modules"])
        assert distance >= -1 and distance % 8 in (0, 7)
    for context in part["contexts"]:
        frames = stack(part, context)
        assert len(frames) == len(set(frames)), "a reduced stack repeats a call site"
        assert sum(count for _, count in context["sizes"]) <= context["allocations"]
    for a, b, weight in part["edges"]:
        assert 0 <= a <= b < len(part["contexts"]) and weight > 0
    totals = part["totals"]
    for key in ("allocations", "frees", "accesses"):
        assert totals[key] == sum(context[key] for context in part["contexts"])
    assert totals["machine_accesses"] >= totals["accesses"]


def stack(part: Json, context: Json) -> list[int]:
    """Frame numbers, innermost first."""
    node, frames = context["node"], []
    while node:
        node, frame = part["nodes"][node]
        frames.append(frame)
    return frames


def symbols(binary: Path) -> list[tuple[int, int, str]]:
    lines = subprocess.run(["nm", "-S", binary], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return [(int(r[0], 16), int(r[1], 16), r[3]) for r in rows if len(r) == 4]


def names(part: Json, context: Json, binary: Path, table: Path | None = None) -> list[str]:
    """The functions of this binary on the context's stack, innermost first."""
    known = symbols(table or binary)
    result = []
    for frame in stack(part, context):
        module, offset, _ = part["frames"][frame]
        if module < 0 or part["modules"][module]["path"] != str(binary):
            continue
        result += [n for start, size, n in known if start < offset <= start + size]
    return [name for name in result if name != "_start"]


def contexts_of(part: Json, binary: Path, caller: str) -> list[Json]:
    """The contexts whose malloc was called by this function of the binary."""
    return [c for c in part["contexts"] if names(part, c, binary)[:1] == [caller]]


def allocations_by_stack(part: Json, binary: Path, caller: str) -> dict[tuple[str, ...], int]:
    counts: Counter[tuple[str, ...]] = Counter()
    for context in contexts_of(part, binary, caller):
        counts[tuple(names(part, context, binary))] += context["allocations"]
    return dict(counts)


def allocates(part: Json, size: int) -> bool:
    return any(c["max_size"] == size and c["allocations"] for c in part["contexts"])


COUNTING = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *small(void) { return malloc(24); }
void *zeroed(void) { return calloc(5, 20); }
void *big(void) { return malloc(100000); }
int main(void) {
  char *kept[10];
  for (int i = 0; i < 10; i++) { kept[i] = small(); *kept[i] = 1; }
  char *p = zeroed(); p[99] = 1; p[0] = 2;
  p = realloc(p, 300); p[299] = 1;
  memset(big(), 1, 100000);
  for (int i = 0; i < 4; i++) free(kept[i]);
  char line[100];
  while (fgets(line, sizeof line, stdin)) printf("got %s", line);
  fprintf(stderr, "done\\n");
  return 42;
}
"""


def tells_only_its_file(stderr: str, profile: str | Path) -> bool:
    """Whether `halo record` says where the profile is and what comes next, and nothing else."""
    where, following = f"halo: the profile is in {profile}", f"halo plan {profile}"
    lines = stderr.splitlines()
    return len(lines) == 2 and lines[0] == where and lines[1].endswith(following)


def temporary_of(halo_process: int) -> str:
    """The folder that this halo's consumer was given."""
    listed = subprocess.run(
        ["pgrep", "-P", str(halo_process), "-a"], capture_output=True, text=True, check=True
    )
    [line] = [it for it in listed.stdout.splitlines() if "halo-consumer" in it]
    return line.split()[2].rpartition("/")[0]
