"""Follows the code behind an allocation while there is only one way to go if it succeeded."""

from __future__ import annotations

from iced_x86 import FlowControl, Instruction, Mnemonic, Register

from halo.elf.image import ElfImage
from halo.elf.registers import written_registers
from halo.locations.code import instruction_at
from halo.locations.fills import fill, fills_object
from halo.locations.general import GENERAL
from halo.locations.instructions import writes_memory
from halo.locations.state import State
from halo.locations.vectors import VECTORS

MAX_INSTRUCTIONS = 300
_HANDLERS = {**GENERAL, **VECTORS}
_COMPARISONS = {Mnemonic.CMP, Mnemonic.TEST}
_FENCES = {Mnemonic.MFENCE, Mnemonic.LFENCE, Mnemonic.SFENCE}
_SYSTEM_CALLS = {Mnemonic.SYSCALL, Mnemonic.SYSENTER}
_STATE_CHANGES = {
    Mnemonic.WRPKRU,
    Mnemonic.WRFSBASE,
    Mnemonic.WRGSBASE,
    Mnemonic.XRSTOR,
    Mnemonic.XRSTOR64,
}
"""Instructions behind which the same address may be other memory."""
_REASONS = {
    FlowControl.CONDITIONAL_BRANCH: "a conditional branch",
    FlowControl.CALL: "a call",
    FlowControl.INDIRECT_CALL: "a call",
    FlowControl.INDIRECT_BRANCH: "an indirect jump",
    FlowControl.RETURN: "a return",
}


def follow(image: ElfImage, start: int, state: State) -> str:
    """Executes the code from an address on in a symbolic state; gives the reason why it stopped."""
    seen: set[int] = set()
    address = start
    while len(seen) < MAX_INSTRUCTIONS:
        if address in seen:
            return "a loop"
        instruction = instruction_at(image, address)
        if instruction is None:
            return "no valid code"
        following = _following(instruction, state)
        if following is None:
            return _reason(instruction)
        if instruction.flow_control == FlowControl.NEXT:
            state.instruction = instruction.ip
            _execute(instruction, state)
        seen.add(address)
        address = following
    return f"{MAX_INSTRUCTIONS} instructions"


def _following(instruction: Instruction, state: State) -> int | None:
    """The address of the next instruction; None where the way ends."""
    flow = instruction.flow_control
    if flow == FlowControl.NEXT:
        return None if _stops(instruction, state) else instruction.next_ip
    if flow == FlowControl.UNCONDITIONAL_BRANCH:
        return instruction.near_branch_target
    if flow == FlowControl.CONDITIONAL_BRANCH and state.null_tested:
        if instruction.mnemonic == Mnemonic.JE:
            return instruction.next_ip
        if instruction.mnemonic == Mnemonic.JNE:
            return instruction.near_branch_target
    return None


def _stops(instruction: Instruction, state: State) -> bool:
    """Whether the instruction has effects that the state does not model."""
    if fills_object(instruction, state):
        return False
    if instruction.is_string_instruction or instruction.has_lock_prefix:
        return True
    if instruction.mnemonic in _FENCES or instruction.mnemonic in _STATE_CHANGES:
        return True
    return not _is_modelled(instruction) and writes_memory(instruction)


def _is_modelled(instruction: Instruction) -> bool:
    other_form = instruction.op_mask != Register.NONE or instruction.is_broadcast
    return instruction.mnemonic in _HANDLERS and not other_form


def _reason(instruction: Instruction) -> str:
    if instruction.mnemonic in _SYSTEM_CALLS:
        return "a system call"
    return _REASONS.get(instruction.flow_control, "an unsupported instruction")


def _execute(instruction: Instruction, state: State) -> None:
    if instruction.is_string_instruction:
        fill(instruction, state)
    elif _is_modelled(instruction):
        _HANDLERS[instruction.mnemonic](state, instruction)
    else:
        for register in written_registers(instruction):
            state.forget_register(register)
    if instruction.rflags_modified and instruction.mnemonic not in _COMPARISONS:
        state.null_tested = False
