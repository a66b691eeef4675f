"""Programs of the closed grammar as human-readable expressions."""

from __future__ import annotations

from halo.locations.program import (
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    Register,
)

_REGISTERS = (
    ("rbx", "ebx", "bx", "bl"),
    ("rbp", "ebp", "bp", "bpl"),
    *((f"r{at}", f"r{at}d", f"r{at}w", f"r{at}b") for at in range(12, 16)),
)
_SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"},
    **{"shl": "<<", "shr": ">>", "sar": ">>"},
}
_PARTS = {8: 0, 4: 1, 2: 2, 1: 3}


def text_of(program: Program, width: int = 8) -> str:
    """The value of `width` bytes as an expression of the state at the call.

    `[rsp+0x8]` is a word of 64 bits in memory, and others have their type before them. `rsp` is as
    when the allocator has returned, and `image` is the module's load bias.
    """
    if len(program) == 1 and isinstance(program[0], Register):
        return _REGISTERS[program[0].number][_PARTS.get(width, 0)]
    stack: list[str] = []
    for operation in program:
        _apply(operation, stack)
    return stack[-1]


def _apply(operation: Operation, stack: list[str]) -> None:
    match operation:
        case Register(number):
            stack.append(_REGISTERS[number][0])
        case Frame(offset):
            stack.append(_sum("rsp", offset))
        case Image(offset):
            stack.append(_sum("image", offset))
        case Constant(number):
            stack.append(str(number))
        case Load(width, signed, displacement):
            kind = "" if width == 8 else f"{'i' if signed else 'u'}{8 * width}"
            stack.append(f"{kind}[{_sum(stack.pop(), displacement)}]")
        case Add(shift):
            index, base = stack.pop(), stack.pop()
            stack.append(_scaled(base, index, shift))
        case Extend(width, signed):
            stack.append(f"{'i' if signed else 'u'}{8 * width}({stack.pop()})")
        case Combine(function):
            other, one = stack.pop(), stack.pop()
            sign = _SIGNS.get(function.split()[0], function)
            kind = function[3:].strip()
            text = f"({one} {sign} {other})"
            stack.append(f"{kind}{text}" if kind else text)
        case Convert(source, target):
            stack.append(f"{target}({source} {stack.pop()})")


def _sum(base: str, offset: int) -> str:
    if offset == 0:
        return base
    return f"{base}{'-' if offset < 0 else '+'}{abs(offset):#x}"


def _scaled(base: str, index: str, shift: int) -> str:
    scaled = f"{index}*{1 << shift}" if shift else index
    if base == "0":
        return scaled
    return f"{base}{scaled}" if scaled.startswith("-") else f"{base}+{scaled}"
