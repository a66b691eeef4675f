"""`halo --version` names the commit, and never fails for want of one."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from halo.base.settings import EXTRAS, Installation, Settings, read_settings
from halo.base.version import commit_of


@pytest.fixture
def copy(tmp_path: Path) -> Settings:
    """Settings of a checkout without a repository."""
    (tmp_path / "halo").mkdir()
    (tmp_path / "halo" / "cli.py").write_text("first\n")
    return dataclasses.replace(read_settings(), repository=tmp_path, installation=None)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return git(folder, "rev-parse", "HEAD")


def test_a_checkout_has_the_commit_of_git(copy: Settings) -> None:
    git(copy.repository, "init", "-q")
    head = commit(copy.repository)
    git(copy.repository, "tag", "v1")
    assert commit_of(copy) == head[:12]
    (copy.repository / "halo" / "cli.py").write_text("second\n")
    assert commit_of(copy) == f"{head[:12]}-dirty"


def test_variables_of_git_do_not_matter(copy: Settings, tmp_path: Path) -> None:
    git(copy.repository, "init", "-q")
    head = commit(copy.repository)
    environment = {**copy.environment, "GIT_DIR": str(tmp_path / "elsewhere")}
    assert commit_of(dataclasses.replace(copy, environment=environment)) == head[:12]


def test_a_repository_around_the_checkout_is_not_asked(copy: Settings) -> None:
    git(copy.repository, "init", "-q")
    commit(copy.repository)
    inner = dataclasses.replace(copy, repository=copy.repository / "halo")
    assert commit_of(inner) == ""


def test_without_git_and_without_commits_there_is_none(copy: Settings, tmp_path: Path) -> None:
    git(copy.repository, "init", "-q")
    assert commit_of(copy) == ""
    commit(copy.repository)
    without = {**copy.environment, "PATH": str(tmp_path / "empty")}
    assert commit_of(dataclasses.replace(copy, environment=without)) == ""


def test_an_installed_copy_has_the_commit_of_its_file(copy: Settings, tmp_path: Path) -> None:
    installation = Installation(tmp_path, "0123456789ab", "make install", "pip install {package}")
    installed = dataclasses.replace(copy, installation=installation)
    assert commit_of(installed) == "0123456789ab"
    assert installed.package_command("duckdb") == "pip install duckdb"
    assert copy.package_command("duckdb") == "make build"


def test_packages_of_extras_are_installed_as_the_copy_was(copy: Settings, tmp_path: Path) -> None:
    def installed_by(packages: str) -> Settings:
        installation = Installation(tmp_path, "", "make install", packages)
        return dataclasses.replace(copy, installation=installation)

    private = f"run: {sys.executable} -m pip install 'pyspark>=4,<5'"
    assert installed_by("make install").extra_command("spark") == private
    assert copy.extra_command("spark") == private, "a wheel"
    debian = installed_by("pip install --target here {package}")
    assert debian.extra_command("spark") == "run: pip install --target here 'pyspark>=4,<5'"
    (copy.repository / "pyproject.toml").touch()
    checkout = f"in {copy.repository}, run: .venv/bin/pip install -e '.[learn]'"
    assert copy.extra_command("learn") == checkout


def test_the_packages_of_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((read_settings().repository / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    assert {name: extras[name] for name in EXTRAS} == {name: [it] for name, it in EXTRAS.items()}


def test_an_installed_command_is_named_by_its_path_unless_shells_find_it(
    copy: Settings, tmp_path: Path
) -> None:
    folder, launcher = tmp_path / "p" / "lib" / "halo", tmp_path / "p" / "bin" / "halo"
    installation = Installation(folder, "", "make install", "")
    installed = dataclasses.replace(copy, installation=installation)
    assert installed.command == "halo", "there is no launcher"
    folder.mkdir(parents=True)
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    for path, command in ((launcher.parent, "halo"), (tmp_path / "other", str(launcher))):
        environment = {**copy.environment, "PATH": str(path)}
        assert dataclasses.replace(installed, environment=environment).command == command
