"""Fetches the sources of Debian packages without changing the machine's package lists."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TARGET = "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"


@dataclass(frozen=True)
class Archive:
    """The source of this machine's packages."""

    uri: str
    release: str


def call(*command: str | Path, where: Path) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    return done.stdout


def find_archive() -> Archive:
    """The archive of this Debian release; its updates are left out."""
    facts = Path("/etc/os-release").read_text().splitlines()
    wanted = dict(line.split("=", 1) for line in facts if "=" in line).get("VERSION_CODENAME")
    query = ("apt-get", "indextargets", "--format", TARGET, "Created-By: Packages")
    for line in call(*query, where=Path("/")).splitlines():
        origin, uri, release, component = line.split("|")
        # Before the first update apt does not know the origin and leaves the name unchanged.
        if origin in ("Debian", "$(ORIGIN)") and (release, component) == (wanted, "main"):
            return Archive(uri, release)
    sys.exit("apt has no Debian archive of this machine's release; see sources.list(5)")


class SourceFetcher:
    """apt with separate lists, caches and settings, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("lists/partial", "cache/archives/partial", "parts", "fetched"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        archive = find_archive()
        sources = folder / "sources.list"
        sources.write_text(f"deb-src {archive.uri} {archive.release} main\n")
        self.options = [
            f"-oDir::Etc::sourcelist={sources}",
            f"-oDir::Etc::sourceparts={folder / 'parts'}",
            f"-oDir::State::lists={folder / 'lists'}",
            f"-oDir::Cache={folder / 'cache'}",
            "-oAPT::Sandbox::User=root",
        ]
        self.updated = False

    def fetch(self, package: str) -> Path:
        """The folder of its unpacked source, Debian's patches applied."""
        fetched = self.folder / "fetched" / package
        if not any(fetched.glob("*/debian")):
            shutil.rmtree(fetched, ignore_errors=True)
            fetched.mkdir()
            self._update()
            call("apt-get", *self.options, "-qq", "source", package, where=fetched)
        return next(fetched.glob("*/debian")).parent

    def _update(self) -> None:
        if not self.updated:
            call("apt-get", *self.options, "-qq", "update", where=self.folder)
        self.updated = True
