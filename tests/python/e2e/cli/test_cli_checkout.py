"""A checkout is used wherever it lies: copied, moved, as a package, and with parts missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.command import REPOSITORY, halo, make_compilers


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy with the launcher, and a .venv of its own that knows of the original."""
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "halo", copy / "halo", ignore=ignored)
    shutil.copytree(REPOSITORY / "bench", copy / "bench", ignore=ignored)
    (copy / "build" / "lib").mkdir(parents=True)
    (copy / "build" / "lib" / "libhalo.so").touch()
    (copy / "bin").mkdir()
    shutil.copy(REPOSITORY / "scripts" / "halo.in", copy / "bin" / "halo")
    (copy / "bin" / "halo").chmod(0o755)
    packages = copy / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.parent.mkdir(parents=True)
    packages.symlink_to(sysconfig.get_path("purelib"))
    python = copy / ".venv" / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    home = Path(os.path.realpath(sys.executable)).parent
    (copy / ".venv" / "pyvenv.cfg").write_text(f"home = {home}\n")
    return copy


def launch(checkout: Path, *arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
    # What the tests run with says where halo is; a user's shell does not.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "HALO_"))}
    done = subprocess.run(
        [checkout / "bin" / "halo", *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_copied_and_a_moved_checkout_run_their_own_code(checkout: Path) -> None:
    moved = checkout.with_name("moved")
    for place in (checkout, moved):
        if place == moved:
            checkout.rename(moved)
        status, shown, said = launch(place, "doctor")
        assert said == ""
        assert status == 114  # the recorder is not built there
        assert f"{place}/build/lib/libhalo.so" in shown


def test_the_current_folder_and_links_do_not_matter(checkout: Path, tmp_path: Path) -> None:
    decoy = tmp_path / "decoy"
    (decoy / "halo").mkdir(parents=True)
    (decoy / "halo" / "__init__.py").write_text("raise SystemExit(99)")
    (tmp_path / "link").symlink_to(checkout / "bin" / "halo")
    assert launch(checkout, "--version", cwd=decoy)[0] == 0
    done = subprocess.run([tmp_path / "link", "--version"], check=False, capture_output=True)
    assert done.returncode == 0


def test_a_missing_venv_is_a_sentence(checkout: Path) -> None:
    (checkout / ".venv" / "bin" / "python3").unlink()
    status, _, said = launch(checkout, "--version")
    assert (status, said) == (114, "halo: .venv is missing; run: make build\n")


def test_a_missing_package_is_a_sentence(checkout: Path) -> None:
    (packages,) = (checkout / ".venv" / "lib").glob("*/site-packages")
    packages.unlink()
    packages.mkdir()
    status, _, said = launch(checkout, "offenders", "nothing")
    assert status == 114, said
    assert "make build" in said and said.count("\n") == 1


def test_a_package_holds_no_native_code(tmp_path: Path) -> None:
    """What setuptools installs is what a wheel is made of."""
    copy = tmp_path / "copy"
    shutil.copytree(REPOSITORY / "halo", copy / "halo")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, copy)
    (copy / "build" / "lib").mkdir(parents=True)
    (copy / "build" / "lib" / "libhalo.so").write_bytes(b"\x7fELF")
    done = subprocess.run(
        [
            *(sys.executable, "-c", "import setuptools; setuptools.setup()", "-q"),
            *("install_lib", "--install-dir", str(tmp_path / "installed"), "--no-compile"),
        ],
        cwd=copy,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    installed = tmp_path / "installed"
    assert [path.name for path in installed.iterdir()] == ["halo"]
    files = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    ours = {
        path.relative_to(REPOSITORY)
        for path in (REPOSITORY / "halo").rglob("*")
        if path.is_file() and path.suffix in (".py", ".html", ".css", ".toml")
    }
    assert files == ours


@pytest.mark.parametrize(
    ("wrapper", "variable"), [("halo-cc", "HALO_CLANG"), ("halo-c++", "HALO_CLANGXX")]
)
def test_a_missing_compiler_is_a_sentence(tmp_path: Path, wrapper: str, variable: str) -> None:
    script = tmp_path / "bin" / wrapper
    script.parent.mkdir()
    make_compilers(script.parent)
    (tmp_path / "build" / "lib").mkdir(parents=True)
    (tmp_path / "build" / "lib" / "libhalo-pass.so").touch()
    done = subprocess.run(
        [script, "-c", "x.c"],
        env={**os.environ, variable: "no-such-clang"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 114
    assert "no-such-clang" in done.stderr and variable in done.stderr


def test_a_figure_that_is_not_there_lists_those_that_are() -> None:
    outcome = halo("plot", "foo")
    assert outcome.status == 111
    assert "speedup" in outcome.stderr and "affinity-graph" in outcome.stderr
    outcome = halo("plot", "speedup")
    assert outcome.status == 111
    assert "RESULT" in outcome.stderr
