"""Writes the folder of a deployment, after the checks of its content."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from halo.base.errors import BadInput
from halo.binary.process.target import Target
from halo.plan import read_plan
from halo.plan.runtimes import runtime_of
from halo.ship.deployment.choice import DeploymentChoice
from halo.ship.deployment.contents import (
    ENV,
    README,
    RUN,
    Deployment,
    dockerfile_text,
    drop_in_text,
    env_text,
    licence_name,
    readme_text,
    run_text,
)
from halo.ship.deployment.fit import check_fit
from halo.ship.deployment.libraries import read_library
from halo.ship.deployment.names import check_place, safe_name

FILE, PROGRAM = 0o644, 0o755  # other users' services read the folder


@dataclass(frozen=True)
class Request:
    """What the user asked for; `target` is the program, if it is on this machine.

    `place` is the folder's final path; `halo` is what starts halo; `unit` and `docker` ask for
    snippets.
    """

    output: Path
    place: Path
    target: Target | None
    halo: str
    unit: str = ""
    docker: bool = False


def deploy(
    choice: DeploymentChoice,
    request: Request,
    runtime: Path,
    repository: Path,
    env: Mapping[str, str],
) -> tuple[Deployment, list[str]]:
    """Writes the folder; returns what is in it, and notes of the checks.

    The copies are checked before they are moved to their place, and a failure leaves nothing
    behind. A folder that does not exist yet appears in one step. Raises `BadInput` if the folder
    is not empty or cannot be written, and what `check_fit` raises.
    """
    output = Path(os.path.realpath(request.output))
    check_place(output, "-o")
    check_place(request.place, "--path")
    try:
        _check_empty(output)
        found = _deployment(choice, request.place, runtime, repository)
        with _staging(output) as staging:
            _fill(staging, found, choice, request)
            notes = _checked(staging, found, choice, request, env)
            staging.chmod(PROGRAM)
            if output.is_dir():
                _move_files(staging, output)
            else:
                os.rename(staging, output)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror or error}.") from error
    return found, notes


def _check_empty(output: Path) -> None:
    if not output.parent.is_dir():
        raise BadInput(f"The directory {output.parent} does not exist; make it first.")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise BadInput(f"{output} exists and is not an empty folder; give another one with -o.")


@contextmanager
def _staging(output: Path) -> Iterator[Path]:
    """A temporary folder on the disk of the output."""
    beside = output if output.is_dir() else output.parent
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=beside))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move_files(staging: Path, output: Path) -> None:
    """Moves all into an existing folder, or none."""
    names = [file.name for file in staging.iterdir()]
    try:
        for name in names:
            os.rename(staging / name, output / name)
        output.chmod(PROGRAM)
    except BaseException:
        for name in names:
            if not (staging / name).exists():
                os.rename(output / name, staging / name)
        raise


def _deployment(
    choice: DeploymentChoice, place: Path, runtime: Path, repository: Path
) -> Deployment:
    name, libraries, build_id, plan = safe_name(choice.program), [], "", ""
    what = f"{name} under {choice.allocator.name}" if name else choice.allocator.name
    if choice.plan is not None:
        content = read_plan(choice.plan)
        if content.executable is not None:
            build_id = content.modules[content.executable].build_id
        plan = f"{name}.plan"
        served_by = runtime_of(runtime, choice.plan)
        libraries.append(read_library(served_by, _own_licence(repository)))
        what = f"{name} under the plan '{safe_name(choice.plan.stem)}' over {choice.allocator.name}"
    if choice.allocator.library is not None:
        libraries.append(read_library(choice.allocator.library))
    settings = choice.allocator.variables
    return Deployment(name, place, plan, build_id, libraries, what, choice.why, settings)


def _own_licence(repository: Path) -> Path | None:
    """The licence of the installed package, or of the checkout."""
    try:
        files = distribution("halo-placement").files or []
    except PackageNotFoundError:
        files = []
    installed = [Path(str(it.locate())) for it in files if it.name == "LICENSE"]
    return next((it for it in (*installed, repository / "LICENSE") if it.is_file()), None)


def _fill(folder: Path, found: Deployment, choice: DeploymentChoice, request: Request) -> None:
    for library in found.libraries:
        _copy(library.path, folder / library.name)
        if library.licence is not None:
            _copy(library.licence, folder / licence_name(library))
    if choice.plan is not None:
        _copy(choice.plan, folder / found.plan)
    _write(folder / ENV, env_text(found))
    _write(folder / RUN, run_text(found), PROGRAM)
    _write(folder / README, readme_text(found))
    if request.unit:
        drop_in = folder / f"{request.unit}.d"
        drop_in.mkdir(PROGRAM)
        drop_in.chmod(PROGRAM)
        _write(drop_in / "halo.conf", drop_in_text(found, request.unit))
    if request.docker:
        _write(folder / "Dockerfile", dockerfile_text(found, request.output.absolute().name))


def _copy(source: Path, to: Path) -> None:
    shutil.copyfile(source, to)
    to.chmod(FILE)


def _write(path: Path, text: str, mode: int = FILE) -> None:
    path.write_text(text, "utf-8")
    path.chmod(mode)


def _checked(
    folder: Path,
    found: Deployment,
    choice: DeploymentChoice,
    request: Request,
    environment: Mapping[str, str],
) -> list[str]:
    """Notes on the copies in the folder with the program, if it is here."""
    if found.plan:
        read_plan(folder / found.plan)
    if request.target is None:
        return []
    copies: Sequence[Path] = [folder / library.name for library in found.libraries]
    return check_fit(request.target, choice.plan, copies, environment, request.halo)
