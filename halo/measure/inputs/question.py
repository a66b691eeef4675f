"""What a measurement was asked: the command, and what its answer depends on.

A finished measurement keeps its question. The same one has the same answer, which is not measured
again; of another one, the differences are named.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from halo.base.files.atomic import write_json
from halo.measure.job_inputs import JobInputs
from halo.measure.runs.job import Job, digest

FORMAT, VERSION = "halo-question", 1
NAME = "question.json"
Question: TypeAlias = Mapping[str, str]
"""By what a sentence calls it: a command, the digest of a file, or a setting."""

COMMAND = "the command"
_ASKED = "the options"  # of the command, in one spelling
_INPUT = "the input "
OUTPUTS = ("--results", "--json")
_UNASKED = {"words", "implementation", "results", "json"}


def question_of(
    options: Mapping[str, Any],
    commands: Mapping[str, Sequence[str]],
    jobs: Sequence[Job],
    inputs: JobInputs,
    common: Mapping[str, object],
    files: Sequence[Path] = (),
) -> Question:
    """`options` were parsed from `words`, which are among them.

    What was typed is kept to be shown; `train` and `reference` of `commands` follow it. `inputs`
    know the files that count; `common` has what every trial depends on. `files` are further ones
    that the options name.
    """
    typed = [commands[name] for name in ("train", "reference") if name in commands]
    words = without_options(options["words"], OUTPUTS)
    asked = {name: value for name, value in options.items() if name not in _UNASKED}
    programs = [[place_of(job.target.path), *job.arguments] for job in jobs]
    found = {
        COMMAND: " -- ".join(map(shlex.join, [words, *typed])),
        _ASKED: json.dumps([asked, programs], sort_keys=True, default=_plain),
    }
    for job in jobs:
        found[f"the program {place_of(job.target.path)}"] = digest(job.target.path)
        found |= {f"{_INPUT}{name}": content for name, content in inputs.files_of(job).items()}
    for file in files:
        found[f"the file {place_of(file)}"] = digest(file)
    for name, value in common.items():
        found[f"the {name}"] = json.dumps(value, sort_keys=True)
    return found


def _plain(value: object) -> object:
    """What an option was parsed to, as JSON."""
    return place_of(value) if isinstance(value, Path) else str(value)


def place_of(path: Path) -> str:
    """The path without links to folders.

    A link to the file itself stays: some programs, as Python in a virtual environment, act by the
    name or the place of the link.
    """
    return os.path.join(os.path.realpath(path.parent), path.name)


def without_options(words: Sequence[str], names: Collection[str]) -> list[str]:
    """The words without options of those names, which all have a value."""
    kept, given = [], iter(words)
    for word in given:
        name, equals, _ = word.partition("=")
        if name not in names:
            kept.append(word)
        elif not equals:
            next(given, None)
    return kept


def write_question(question: Question, stages: Path) -> None:
    document = {"format": FORMAT, "version": VERSION, "question": question}
    write_json(document, stages / NAME)


def read_question(stages: Path) -> Question | None:
    """None if there is none that can be read, as in results of an earlier version."""
    try:
        document = json.loads((stages / NAME).read_text())
        if document["version"] != VERSION:
            return None
        return {str(name): str(value) for name, value in document["question"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def differences(then: Question, now: Question) -> list[str]:
    """What differs, in words; empty if it is the same question.

    Files that are named by the arguments now, and did not count then, are outputs.
    """
    changed = [name for name in then if name != COMMAND and then[name] != now.get(name)]
    added = [name for name in now if name not in then and not name.startswith(_INPUT)]
    if _ASKED in changed:
        return [f"{COMMAND} (it was: {then[COMMAND]})"]
    return [*changed, *added]
