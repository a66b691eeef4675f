"""The Debian package: contents, lintian, and its command, run from the unpacked files."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from halo.cli.registry import every_command
from support.command import REPOSITORY, compile_c
from support.programs.sources import LIST


def run(*words: str | Path, home: Path | None = None, cwd: Path | None = None) -> str:
    """Its standard output; HALO_* and PYTHON* variables of the tests are not passed on."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "HALO_"))}
    env |= {} if home is None else {"HOME": str(home)}
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package() -> Path:
    """It is compressed in a hurry, as it is only unpacked and read here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPKG_DEB_COMPRESSOR_LEVEL", "0")
        made = run(REPOSITORY / "scripts" / "packaging" / "deb.sh").splitlines()[-1]
    return REPOSITORY / made


@pytest.fixture(scope="module")
def tree(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    run("dpkg-deb", "-x", package, folder)
    return folder


def test_it_has_all_modules_pages_and_completions(tree: Path) -> None:
    python = tree / "usr" / "lib" / "halo" / "python"
    ours = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "halo").rglob("*.py")}
    assert {it.relative_to(python) for it in (python / "halo").rglob("*.py")} == ours
    assert {it.name.split("-")[1] for it in (python / "msgspec").glob("*.so")} >= {"311", "313"}
    share = tree / "usr" / "share"
    pages = {path.name for path in (share / "man" / "man1").iterdir()}
    wanted = [words.replace(" ", "-") for words, _ in every_command()]
    assert {f"halo-{words}.1.gz" for words in wanted} | {"halo.1.gz", "halo-cc.1.gz"} <= pages
    for file in ("bash-completion/completions/halo", "zsh/vendor-completions/_halo"):
        assert (share / file).is_file()


def test_it_owns_no_file_that_another_package_could_have(tree: Path) -> None:
    ours = ("usr/lib/halo/", "usr/include/halo/", "usr/share/")
    files = {str(it.relative_to(tree)) for it in tree.rglob("*") if not it.is_dir()}
    assert {it for it in files if not it.startswith(ours)} == {
        "usr/bin/halo",
        "usr/bin/halo-cc",
        "usr/bin/halo-c++",
    }
    assert not [it for it in files if "__pycache__" in it or it.endswith(".pyc")]


def test_the_decoder_is_its_own_as_releases_have_different_versions(
    package: Path, tree: Path
) -> None:
    libraries = tree / "usr" / "lib" / "halo" / "lib"
    engine = str(libraries / "libhalo-native-guest.so")
    environment = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": engine}
    loaded = subprocess.run(["true"], env=environment, capture_output=True, text=True, check=True)
    assert f"=> {libraries}/libZydis.so" in loaded.stdout
    assert "zydis" not in run("dpkg-deb", "-f", package, "Depends")


def test_no_file_names_the_checkout(tree: Path) -> None:
    for path in tree.rglob("*"):
        if path.is_file() and not path.name.endswith((".so", ".a")):
            assert str(REPOSITORY).encode() + b"/" not in path.read_bytes(), path


def test_lintian_finds_no_errors(package: Path) -> None:
    assert "E: " not in run("lintian", "--fail-on", "error", "--allow-root", package)


def test_its_command_records_with_packages_of_the_users_folder(tree: Path, tmp_path: Path) -> None:
    """The folder that pip fills on Debian stands for Debian's own packages here.

    The packages have no metadata, as those in the Debian package.
    """
    halo = tree / "usr" / "bin" / "halo"
    version = run("/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    packages = tmp_path / ".local" / "share" / "halo" / f"python{version.strip()}"
    packages.mkdir(parents=True)
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if each.suffix != ".dist-info":
            (packages / each.name).symlink_to(each)
    program = compile_c(LIST.replace("return 7", "return 0"), tmp_path / "program")
    run(halo, "record", "-o", "a.profile", "--", program, "1000", home=tmp_path, cwd=tmp_path)
    run(halo, "plan", "-o", "a.plan", "a.profile", home=tmp_path, cwd=tmp_path)
    assert json.loads((tmp_path / "a.plan.json").read_text())["groups"]
    shown = run(halo, "doctor", home=tmp_path, cwd=tmp_path)
    assert f"{tree}/usr/lib/halo/lib/libhalo.so" in shown
    assert "make" not in shown
