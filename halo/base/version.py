"""What `halo --version` prints: the version, and the commit that this copy was made of."""

from __future__ import annotations

import subprocess

from halo import __version__
from halo.base.settings import Settings, read_settings

SECONDS = 10  # for git, which may wait for a slow disk


def version_text() -> str:
    """One line; without a commit if there is no repository, or no git."""
    commit = commit_of(read_settings())
    return f"halo {__version__}{f' (commit {commit})' if commit else ''}"


def commit_of(settings: Settings) -> str:
    """The commit, with `-dirty` after it if tracked files differ; empty if it is not known."""
    installation = settings.installation
    return installation.commit if installation else _described_by_git(settings)


def _described_by_git(settings: Settings) -> str:
    repository = settings.repository / ".git"
    if not repository.exists():
        return ""  # git would take the commit of a repository around it
    command = ["git", f"--git-dir={repository}", f"--work-tree={settings.repository}", "describe"]
    options = ["--always", "--dirty", "--exclude=*", "--abbrev=12"]
    environment = {k: v for k, v in settings.environment.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            [*command, *options],
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
