"""What the code right behind an allocation stores into the new object, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from halo.elf.image import ElfImage
from halo.locations.arrival import arrival_at
from halo.locations.code import is_constant
from halo.locations.contents import runs, value_of
from halo.locations.follow import follow
from halo.locations.program import Combine, Constant, Load, Program, fits
from halo.locations.state import ObjectStore, State
from halo.locations.symbolic import Value, signed


@dataclass(frozen=True)
class BirthStore:
    """A store of `width` bytes at `offset` in the new object by the instruction at an address.

    `program` gives the value at the call: its low `width` bytes are stored. It is None for values
    that the grammar does not express. `constant`: the value is a number in the code.
    """

    offset: int
    width: int
    program: Program | None
    constant: bool
    instruction: int


@dataclass(frozen=True)
class BirthStores:
    """The stores of a call site in code order.

    `frame_bytes`: the size of the caller's frame, from rsp to its return address; 0 if unknown.
    `stores_to_frame`: a load through a pointer follows a store to the frame, so a load that reads
    the frame through a pointer may differ at the call. `reason`: why the analysis stopped.
    """

    stores: tuple[BirthStore, ...]
    frame_bytes: int
    stores_to_frame: bool
    reason: str


def birth_stores(image: ElfImage, return_address: int) -> BirthStores:
    """The stores behind the call that returns there, an ELF virtual address. Raises nothing.

    Every load of a program is one that the followed code executes itself, and it reads the same
    bytes at the call.
    """
    state = State(arrival_at(image, return_address), partial(is_constant, image))
    reason = follow(image, return_address, state)
    stores = []
    stores_to_frame = False
    for store in state.object_stores:
        for at, value, width in _parts(store):
            program = state.program(value)
            stores_to_frame |= program is not None and value.late
            stores.append(
                BirthStore(store.offset + at, width, program, value.is_constant, store.instruction)
            )
    return BirthStores(tuple(stores), state.frame_bytes, stores_to_frame, reason)


def _parts(store: ObjectStore) -> Iterator[tuple[int, Value, int]]:
    """The parts of a store that are of one value each: position, value, width."""
    for at, content in runs(store.content):
        value, width = value_of(content), len(content)
        if value.is_constant:
            value = Value((), signed(value.added, width))
        yield at, value, width


def value_at(stores: BirthStores, offset: int, width: int) -> Program | None:
    """The program of the field of `width` bytes at `offset`; None if its value is unknown.

    This is the last value stored there that is not a constant: constants clear a field before.
    """
    for store in reversed(stores.stores):
        skip = offset - store.offset
        if store.constant or skip >= store.width or skip + width <= 0:
            continue
        if skip < 0 or skip + width > store.width or store.program is None:
            return None
        return store.program if skip == 0 else _high_part(store.program, skip, width, stores)
    return None


def _high_part(program: Program, skip: int, width: int, stores: BirthStores) -> Program | None:
    """The bytes from byte `skip` on of a program's value; None if that has too many operations."""
    last = program[-1]
    if isinstance(last, Load) and skip + width <= last.width:
        return (*program[:-1], Load(width, False, last.displacement + skip))
    shifted = (*program, Constant(8 * skip), Combine("shr"))
    return shifted if fits(shifted, stores.frame_bytes) else None
