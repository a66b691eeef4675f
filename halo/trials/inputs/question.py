"""What a measurement was asked: the command, and what its answer depends on.

A finished measurement keeps its question. The same one has the same answer, which is not measured
again; of another one, the differences are named.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from halo.files.atomic import write_json
from halo.trials.job_inputs import JobInputs
from halo.trials.runs.job import Job
from halo.trials.runs.laboratory import digest

FORMAT, VERSION = "halo-question", 1
NAME = "question.json"
Question: TypeAlias = Mapping[str, str]
"""By what a sentence calls it: a command, the digest of a file, or a setting."""

COMMAND = "the command"
_INPUT = "the input "
_OUTPUTS = ("--results", "--json")


def question_of(
    words: Sequence[str],
    commands: Mapping[str, Sequence[str]],
    jobs: Sequence[Job],
    inputs: JobInputs,
    common: Mapping[str, object],
    files: Sequence[Path] = (),
) -> Question:
    """`words` are the options that were typed; of `commands`, `train` and `reference` follow them.

    `inputs` know the files that count; `common` has what every trial depends on. `files` are
    further ones that the options name.
    """
    typed = [commands[name] for name in ("train", "reference") if name in commands]
    found = {COMMAND: " -- ".join(map(shlex.join, [_without_outputs(words), *typed]))}
    for job in jobs:
        found[f"the program {job.target.path}"] = digest(job.target.path)
        found |= {f"{_INPUT}{name}": content for name, content in inputs.files_of(job).items()}
    for file in files:
        found[f"the file {os.path.abspath(file)}"] = digest(file)
    for name, value in common.items():
        found[f"the {name}"] = json.dumps(value, sort_keys=True)
    return found


def _without_outputs(words: Sequence[str]) -> list[str]:
    kept, given = [], iter(words)
    for word in given:
        name, equals, _ = word.partition("=")
        if name not in _OUTPUTS:
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
    changed = [name for name in then if then[name] != now.get(name)]
    added = [name for name in now if name not in then and not name.startswith(_INPUT)]
    if COMMAND in changed:
        return [f"{COMMAND} (it was: {then[COMMAND]})"]
    return [*changed, *added]
