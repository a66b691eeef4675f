"""Commands on a terminal: sentences are broken between words, and a dumb terminal gets no codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.command import compile_c, halo
from support.terminal import on_terminal

WIDTHS = (60, 80, 120)


@pytest.mark.parametrize("width", WIDTHS)
def test_doctor_breaks_its_sentences_between_words(width: int, tmp_path: Path) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog")
    _, shown = on_terminal(width, "doctor", "--", "./prog", cwd=tmp_path)
    for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines():
        # A path cannot be broken.
        assert len(line) <= width or len(line.split()) == 1, line


def test_a_recording_on_a_terminal_says_what_comes_next(tmp_path: Path) -> None:
    compile_c('#include <stdio.h>\nint main(void) { puts("42"); return 0; }', tmp_path / "prog")
    status, shown = on_terminal(80, "record", "--", "./prog", cwd=tmp_path)
    assert status == 0, shown
    lines = shown.splitlines()
    assert lines[0] == "42"
    assert lines[1] == "halo: the profile is in prog.profile"
    assert re.fullmatch(r"Next: \S*halo plan prog\.profile", lines[2])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "arguments",
    [
        ("xyzzy",),
        ("run", "--also", "a", "--candidates", "search", "--", "/bin/ls"),
        ("plan", "--strategy", "none", "prog"),
    ],
)
def test_errors_are_broken_between_words(
    width: int, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """Whole in a file, for those who search in it."""
    _, shown = on_terminal(width, *arguments, cwd=tmp_path)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(lines) == halo(*arguments, cwd=tmp_path).stderr.rstrip("\n")


def test_progress_and_the_programs_output_are_lines_of_their_own(tmp_path: Path) -> None:
    source = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>
    int main(void) {
      for (time_t end = time(0) + 5; time(0) < end;) free(malloc(8));
      puts("finished");
    }
    """
    compile_c(source, tmp_path / "prog")
    _, shown = on_terminal(80, "record", "--", "./prog", cwd=tmp_path)
    lines = shown.splitlines()
    assert any(re.match(r"halo: .* objects, .* accesses", line) for line in lines), shown
    assert "finished" in lines


@pytest.mark.parametrize("command", ["baseline", "plan"])
def test_a_dumb_terminal_gets_no_codes(command: str, tmp_path: Path) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog")
    if command == "plan":
        on_terminal(80, "record", "--", "./prog", cwd=tmp_path)
        arguments = ["plan", "prog.profile"]
    else:
        arguments = ["baseline", "--trials", "2", "--", "./prog"]
    status, shown = on_terminal(60, *arguments, cwd=tmp_path, term="dumb")
    assert status == 0, shown
    assert "\x1b" not in shown
    # A path cannot be broken.
    assert max(len(line) for line in shown.splitlines() if "/" not in line) <= 60
