"""Finds the user's program and refuses, with one sentence, those that halo cannot serve."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError, ELFParseError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from halo.base.errors import CannotRun, Unsuitable
from halo.binary.process.loader_command import loader_sentence
from halo.binary.process.scripts import Found, call_of_script

_LOADERS = ("ld-linux", "ld-musl", "libc.musl")  # the beginnings of their names


@dataclass(frozen=True)
class Target:
    """A program that halo can serve: the file, and its name on the command line."""

    path: Path
    name: str


@dataclass(frozen=True)
class Anatomy:
    """The properties of an ELF file that halo uses."""

    machine: str
    bits: int
    kind: str
    interpreter: str
    build_id: str
    has_frame_rules: bool
    stripped: bool
    position_independent: bool
    own_malloc: bool
    needed: tuple[str, ...]
    sanitizer: str = ""
    soname: str = ""

    @property
    def is_loader(self) -> bool:
        """Whether it is a dynamic loader itself, wherever that is installed."""
        return not self.interpreter and self.soname.startswith(_LOADERS)


# Their runtimes replace malloc and end the program, or hang, if another library comes first. That
# of UndefinedBehaviorSanitizer does not.
SANITIZERS = ("libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libmsan.so")
_SANITIZED = {
    "__asan_init": "AddressSanitizer",
    "__hwasan_init": "HWAddressSanitizer",
    "__lsan_init": "LeakSanitizer",
    "__tsan_init": "ThreadSanitizer",
    "__msan_init": "MemorySanitizer",
}


def find_target(name: str, environment: Mapping[str, str], arguments: Sequence[str] = ()) -> Target:
    """Finds the program as a shell would and checks that halo can place its objects."""
    target = locate_target(name, environment)
    check_suitable(target, environment, arguments)
    return target


def locate_target(name: str, environment: Mapping[str, str]) -> Target:
    """Finds the program as a shell would and checks that it can be run and read."""
    target = Target(_locate(name, environment.get("PATH", os.defpath)), name)
    _check_file(target)
    return target


def _locate(name: str, search: str) -> Path:
    if not name:
        raise CannotRun("The program's name is empty; give the program to run after `--`.")
    if "/" in name:
        if not os.path.lexists(name):
            raise CannotRun(
                f"The program {name} does not exist; check its path (it is taken from"
                f" {os.getcwd()})."
            )
        return Path(name).absolute()
    for folder in search.split(os.pathsep):
        path = Path(folder or ".", name).absolute()
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    hint = f"; for the file here, write ./{name}" if os.path.exists(name) else ""
    raise CannotRun(
        f"The program {name} was not found in PATH; check the name or give its path{hint}."
    )


def _check_file(target: Target) -> None:
    path, name = target.path, target.name
    if not path.exists():
        raise CannotRun(f"{name} is a symbolic link to nothing; fix the link or give the program.")
    if path.is_dir():
        raise CannotRun(f"{name} is a directory; give the program inside it.")
    if not path.is_file():
        raise CannotRun(f"{name} is not a regular file; give the path of a program.")
    if not os.access(path, os.X_OK):
        raise CannotRun(
            f"{name} is not executable; make it so with: chmod +x {name} (or give another program)."
        )
    if not os.access(path, os.R_OK):
        raise CannotRun(
            f"{name} may be run but not read, and halo has to read it; get read permission first."
        )


def check_suitable(
    target: Target,
    environment: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
) -> None:
    """Refuses a script, another machine's program, a static, a set-user-id one, ..."""
    with target.path.open("rb") as stream:
        start = stream.read(256)
    if start.startswith(b"#!"):
        raise Unsuitable(_script_sentence(target, environment or {}))
    if not start.startswith(b"\x7fELF"):
        raise Unsuitable(
            f"{target.name} is not a native Linux program (not an ELF file); give an x86-64 binary."
        )
    if is_app_image(start):
        raise Unsuitable(
            f"{target.name} is an AppImage, which unpacks another program and starts that; run"
            f" `{target.name} --appimage-extract` and give the program inside."
        )
    check_privileges(target)
    anatomy = examine(target.path)
    if anatomy.is_loader:
        raise Unsuitable(loader_sentence(target.name, arguments))
    check_anatomy(target, anatomy)


def is_app_image(start: bytes) -> bool:
    """Whether the file that begins so is an AppImage."""
    return start.startswith(b"\x7fELF") and start[8:10] == b"AI"


def _script_sentence(target: Target, environment: Mapping[str, str]) -> str:
    call = call_of_script(target.path, environment)
    command = shlex.join(call.command)
    if call.found is Found.NEXT_OF_NAME:
        return (
            f"{target.name} is a script; the next program of that name in PATH is"
            f" {call.command[0]}: give the program that the script starts, if it is that one:"
            f" -- {command}"
        )
    if call.found is Found.STARTED:
        return (
            f"{target.name} is a script that starts another program: give that one, with the"
            f" arguments that it gets: -- {command}"
        )
    is_shell = call.command[0].endswith("sh")
    starts = " (or the program that it starts)" if is_shell else ""
    return (
        f"{target.name} is a script: give its interpreter as the program{starts}, for instance:"
        f" -- {command}"
    )


def check_privileges(target: Target) -> None:
    """Refuses a set-user-id program or one with capabilities, as its loader ignores LD_PRELOAD."""
    mode = target.path.stat().st_mode
    what = ""
    if mode & stat.S_ISUID:
        what = "set-user-id"
    elif mode & stat.S_ISGID:
        what = "set-group-id"
    elif _has_capabilities(target.path):
        what = "given file capabilities"
    if what:
        raise Unsuitable(
            f"{target.name} is {what}, so the loader would ignore halo's library; run a copy of it"
            " without the privilege (cp makes one)."
        )


def _has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


def check_anatomy(target: Target, anatomy: Anatomy) -> None:
    """Refuses programs whose ELF file excludes placement."""
    name = target.name
    if anatomy.machine != "EM_X86_64" or anatomy.bits != 64:
        machine = anatomy.machine.removeprefix("EM_").lower()
        raise Unsuitable(
            f"{name} is for another architecture ({machine}, {anatomy.bits} bits); halo places"
            " 64-bit x86-64 programs only: give an x86-64 build of it."
        )
    if anatomy.kind not in ("ET_EXEC", "ET_DYN"):
        raise Unsuitable(f"{name} is an object file, not a program; link it first.")
    if not anatomy.interpreter:
        raise Unsuitable(
            f"{name} is a static binary, so no library can be put before its allocator; link it"
            " dynamically (leave out -static)."
        )
    if "ld-linux" not in anatomy.interpreter:
        raise Unsuitable(
            f"{name} is loaded by {anatomy.interpreter}, not by glibc's loader; use a build of it"
            " for glibc."
        )
    if anatomy.sanitizer:
        raise Unsuitable(
            f"{name} is built with {anatomy.sanitizer}, which replaces malloc to find errors and"
            " allows no other library before it; build it without -fsanitize."
        )
    if anatomy.own_malloc:
        raise Unsuitable(
            f"{name} exports a malloc of its own, which is bound before any preloaded one; build it"
            " with the system's allocator."
        )


def examine(path: Path) -> Anatomy:
    """Reads the headers of an ELF file; raises `Unsuitable` if they are damaged."""
    try:
        with path.open("rb") as stream:
            return _read_anatomy(ELFFile(stream))
    except OSError as error:
        if error.errno != errno.EINVAL:  # an offset that is not in the file
            raise
        raise Unsuitable(f"{path} is a damaged ELF file; give an intact one.") from error
    except (ELFError, ELFParseError, ValueError, KeyError, OverflowError, MemoryError) as error:
        raise Unsuitable(
            f"{path} is a damaged ELF file ({error or type(error).__name__}); give an intact one."
        ) from error


def _read_anatomy(elf: ELFFile) -> Anatomy:
    interpreter = ""
    for segment in elf.iter_segments("PT_INTERP"):
        interpreter = segment.get_interp_name()  # type: ignore[attr-defined]
    dynamic = elf.get_section_by_name(".dynamic")
    needed: tuple[str, ...] = ()
    soname = ""
    if isinstance(dynamic, DynamicSection):
        for tag in dynamic.iter_tags("DT_SONAME"):
            soname = tag.soname  # type: ignore[attr-defined]
        needed = tuple(
            tag.needed  # type: ignore[attr-defined]
            for tag in dynamic.iter_tags("DT_NEEDED")
        )
    return Anatomy(
        machine=str(elf["e_machine"]),
        bits=elf.elfclass,
        kind=str(elf["e_type"]),
        interpreter=interpreter,
        build_id=_build_id(elf),
        has_frame_rules=elf.get_section_by_name(".eh_frame") is not None,
        stripped=elf.get_section_by_name(".symtab") is None,
        position_independent=elf["e_type"] == "ET_DYN",
        own_malloc=bool(_defined(elf, ["malloc"])),
        needed=needed,
        sanitizer=_sanitizer(elf, needed),
        soname=soname,
    )


def _build_id(elf: ELFFile) -> str:
    section = elf.get_section_by_name(".note.gnu.build-id")
    if not isinstance(section, NoteSection):
        return ""
    for note in section.iter_notes():
        if note["n_type"] == "NT_GNU_BUILD_ID":
            return str(note["n_desc"])
    return ""


def _sanitizer(elf: ELFFile, needed: tuple[str, ...]) -> str:
    """The sanitizer's library, or its name if it is linked in; empty if there is none.

    A sanitizer that is linked in is identified by its symbols, which stripped programs may lack.
    """
    library = next((name for name in needed if name.startswith(SANITIZERS)), "")
    if library or not _defined(elf, ["malloc"]):
        return library
    linked_in = [*_defined(elf, [*_SANITIZED]), *_defined(elf, [*_SANITIZED], ".symtab")]
    return _SANITIZED[linked_in[0]] if linked_in else ""


def _defined(elf: ELFFile, names: list[str], section: str = ".dynsym") -> list[str]:
    """The symbols among these that the program itself defines in that table."""
    from halo.binary.elf.symbol_table import table_of_bytes

    symbols = elf.get_section_by_name(section)
    if not isinstance(symbols, SymbolTableSection):
        return []
    table = table_of_bytes(symbols.data(), symbols.stringtable.data())
    return list(table.defined(names))
