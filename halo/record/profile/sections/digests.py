"""Digests of the recorded modules' files, for builds that have one build-id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from halo.base.errors import BadProfile
from halo.binary.elf import build_id_of
from halo.binary.elf.digest import Digest, digest_of
from halo.record.profile.checks import Checks
from halo.record.profile.model import Module, Profile
from halo.record.profile.sections.loaded import process_modules
from halo.record.profile.sections.section import Part, Section

Digests = dict[Module, Digest]
_LAYOUT_DIGITS, _CODE_DIGITS = 8, 16


class DigestsSection(Section[Digests]):
    """Added by `halo record`; absent in older profiles."""

    key = "digests"
    refers_to_stacks = False
    needs_all = False

    def read(self, checks: Checks, contexts: int, frames: int) -> Digests:
        texts = [str(row.get("digest")) for row in checks.list(self.key) if isinstance(row, dict)]
        for text in texts:
            if len(text) != _LAYOUT_DIGITS + _CODE_DIGITS or set(text) - set("0123456789abcdef"):
                checks.bad("a digest is not 12 bytes of lower-case hex")
        found = [Digest(int(it[:_LAYOUT_DIGITS], 16), int(it[_LAYOUT_DIGITS:], 16)) for it in texts]
        return dict(zip(checks.modules(self.key), found, strict=True))

    def write(self, value: Digests) -> list[dict[str, Any]]:
        return [
            {**module._asdict(), "digest": f"{value[module].layout:08x}{value[module].code:016x}"}
            for module in sorted(value)
        ]

    def combine(self, found: Sequence[tuple[Part, Digests]]) -> Digests:
        merged: Digests = {}
        for _, value in found:
            for module, digest in value.items():
                if merged.setdefault(module, digest) != digest:
                    raise BadProfile(
                        f"The recordings are of different builds of {module.path}, which have one"
                        " build-id; record one of them again."
                    )
        return merged

    def repeated(self, value: Digests, times: int) -> Digests:
        return value


DIGESTS = DigestsSection()


def with_digests(profile: Profile) -> Profile:
    """The profile with the digests of its modules' files that are still those recorded."""
    modules = {*profile.modules, *process_modules(profile)}
    found = {it: digest_of(it.path) for it in modules if _has_build_id(it)}
    return replace(profile, sections={**profile.sections, DIGESTS.key: found})


def digest_in(profile: Profile, module: Module) -> Digest:
    """The digest of the module as recorded, or else of its file; unknown if that has changed."""
    recorded = (DIGESTS.of(profile) or {}).get(module)
    if recorded is not None:
        return recorded
    return digest_of(module.path) if _has_build_id(module) else Digest(0, 0)


def is_unlike(profile: Profile, module: Module, path: str = "") -> bool:
    """Whether the file at `path`, or else the module's, has its build-id but other content."""
    recorded = (DIGESTS.of(profile) or {}).get(module)
    there = module._replace(path=path or module.path)
    return recorded is not None and _has_build_id(there) and digest_of(there.path) != recorded


def _has_build_id(module: Module) -> bool:
    return bool(module.build_id) and build_id_of(module.path) == module.build_id
