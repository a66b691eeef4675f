"""What code demands of the alignment of heap objects is proved, instruction by instruction."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iced_x86 import Decoder

from halo.binary.alignment import prove_alignment
from halo.binary.alignment.demands import demanding_codes, has_memory, unaligned_twin
from halo.binary.alignment.survey import Survey, survey_module
from halo.binary.elf import build_id_of
from halo.binary.elf.build_id import build_id_of as build_id
from halo.binary.elf.image import ElfImage
from halo.record.profile.model import Module
from support.command import BUILD, compile_c

LIBC = Path("/lib/x86_64-linux-gnu/libc.so.6").resolve()


RIGID = 'void add_rigidly(double *a) { __asm__ volatile("addpd (%0), %%xmm0" :: "r"(a) : "xmm0"); }'


def assemble(folder: Path, text: str) -> bytes:
    """The code of some assembler lines."""
    path = compile_c(f'__asm__(".text\\n{text}");', folder / "code.o", "-c")
    raw = folder / "code.bin"
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", path, raw], check=True)
    return raw.read_bytes()


@pytest.mark.parametrize(
    ("text", "demands"),
    [
        ("movaps (%rdi), %xmm0", True),
        ("movups (%rdi), %xmm0", False),
        ("movaps %xmm1, %xmm0", False),
        ("paddd (%rdi,%rax,4), %xmm0", True),
        ("addsd (%rdi), %xmm0", False),
        ("cvtsi2sd (%rdi), %xmm0", False),
        ("pcmpistri $12, (%rdi), %xmm0", False),
        ("lddqu (%rdi), %xmm0", False),
        ("vpaddd (%rdi), %xmm1, %xmm0", False),
        ("vmovdqa (%rdi), %ymm0", True),
        ("vmovdqa64 (%rdi), %zmm0", True),
        ("vmovdqu64 (%rdi), %zmm0", False),
        ("movntdq %xmm0, (%rdi)", True),
        ("vmovntdq %ymm0, (%rdi)", True),
        ("movntdqa (%rdi), %xmm0", True),
        ("lock cmpxchg16b (%rdi)", True),
        ("fxsave (%rdi)", True),
        ("aesenc (%rdi), %xmm0", True),
        ("movq %xmm0, (%rdi)", False),
        ("movhps (%rdi), %xmm0", False),
        ("mov (%rdi), %rax", False),
    ],
)
def test_which_instructions_demand_alignment(text: str, demands: bool, tmp_path: Path) -> None:
    instruction = Decoder(64, assemble(tmp_path, text)).decode()
    assert (instruction.code in demanding_codes() and has_memory(instruction)) is demands


@pytest.mark.parametrize(
    ("aligned", "unaligned"),
    [
        ("movaps (%rdi), %xmm0", "movups (%rdi), %xmm0"),
        ("movaps %xmm9, -40(%r13,%rax,8)", "movups %xmm9, -40(%r13,%rax,8)"),
        ("movapd %xmm1, (%rdx)", "movupd %xmm1, (%rdx)"),
        ("movdqa 0x66(%rdx), %xmm1", "movdqu 0x66(%rdx), %xmm1"),
        ("movdqa %xmm8, 0x6628(%r9)", "movdqu %xmm8, 0x6628(%r9)"),
        ("vmovaps (%rdi), %ymm2", "vmovups (%rdi), %ymm2"),
        ("vmovapd %xmm2, 40(%r9)", "vmovupd %xmm2, 40(%r9)"),
        ("vmovdqa (%r8), %xmm3", "vmovdqu (%r8), %xmm3"),
        ("vmovdqa %ymm11, (%rax,%rbx)", "vmovdqu %ymm11, (%rax,%rbx)"),
        ("vmovdqa32 %zmm1, 64(%rcx){%k2}", "vmovdqu32 %zmm1, 64(%rcx){%k2}"),
        ("vmovdqa64 (%rcx), %xmm20", "vmovdqu64 (%rcx), %xmm20"),
        ("vmovaps %zmm1, (%rcx)", "vmovups %zmm1, (%rcx)"),
    ],
)
def test_a_twin_is_the_assemblers_own_code(aligned: str, unaligned: str, tmp_path: Path) -> None:
    """One byte changes, and what comes out is what the assembler makes of the unaligned move."""
    code = assemble(tmp_path, aligned)
    patch = unaligned_twin(Decoder(64, code).decode(), code)
    assert patch is not None and code[patch.at] == patch.before
    changed = bytearray(code)
    changed[patch.at] = patch.after
    assert bytes(changed) == assemble(tmp_path, unaligned)


def test_arithmetic_has_no_twin(tmp_path: Path) -> None:
    for text in ("paddd (%rdi), %xmm0", "movntdq %xmm0, (%rdi)", "lock cmpxchg16b (%rdi)"):
        code = assemble(tmp_path, text)
        assert unaligned_twin(Decoder(64, code).decode(), code) is None


def survey_of(folder: Path, body: str, *flags: str) -> Survey:
    """The survey of a library with one exported function of assembler lines."""
    lines = "\\n".join(line.strip() for line in body.strip().splitlines())
    source = (
        '__asm__(".text\\n.globl f\\n.type f,@function\\nf:\\n.cfi_startproc\\n'
        f'{lines}\\n.cfi_endproc\\n.size f, .-f\\n");'
    )
    return survey_module(compile_c(source, folder / "lib.so", "-shared", "-nostdlib", *flags))


# (code, whether its one vector operand is proved not to be a misaligned heap object)
FLOWS = {
    "an argument": ("movaps (%rdi), %xmm0; ret", False),
    "the stack": ("sub $40, %rsp; movaps %xmm0, 16(%rsp); add $40, %rsp; ret", True),
    "an address on the stack": ("lea -40(%rsp), %rax; movaps %xmm0, (%rax); ret", True),
    "static data": ("lea 1f(%rip), %rax; movaps 16(%rax), %xmm0; 1: ret", True),
    "masked": ("and $-16, %rdi; movaps (%rdi), %xmm0; ret", True),
    "masked to 8": ("and $-8, %rdi; movaps (%rdi), %xmm0; ret", False),
    "masked and moved by 8": ("and $-16, %rdi; movaps 8(%rdi), %xmm0; ret", False),
    "masked and advanced by 16": ("and $-16, %rdi; add $16, %rdi; movaps (%rdi), %xmm0; ret", True),
    "masked and advanced by 8": ("and $-16, %rdi; add $8, %rdi; movaps (%rdi), %xmm0; ret", False),
    "masked and indexed": ("and $-16, %rdi; movaps (%rdi,%rsi), %xmm0; ret", False),
    "masked and indexed by sixteens": (
        "and $-16, %rdi; shl $4, %rsi; movaps (%rdi,%rsi), %xmm0; ret",
        True,
    ),
    "masked in one of two ways": (
        "test %rsi, %rsi; je 1f; and $-16, %rdi; 1: movaps (%rdi), %xmm0; ret",
        False,
    ),
    "masked in both ways": (
        "test %rsi, %rsi; je 1f; and $-16, %rdi; jmp 2f; 1: and $-32, %rdi; "
        "2: movaps (%rdi), %xmm0; ret",
        True,
    ),
    "tested": ("test $15, %dil; jne 1f; movaps (%rdi), %xmm0; 1: ret", True),
    "tested the other way": ("test $15, %dil; je 1f; movaps (%rdi), %xmm0; 1: ret", False),
    "tested too little": ("test $7, %dil; jne 1f; movaps (%rdi), %xmm0; 1: ret", False),
    "in a loop by sixteens": (
        "and $-16, %rdi; 1: movaps (%rdi), %xmm0; add $16, %rdi; dec %rsi; jne 1b; ret",
        True,
    ),
    "in a loop by eights": (
        "and $-16, %rdi; 1: movaps (%rdi), %xmm0; add $8, %rdi; dec %rsi; jne 1b; ret",
        False,
    ),
    "after a call": ("and $-16, %rdi; call f@plt; movaps (%rdi), %xmm0; ret", False),
    "kept over a call": ("and $-16, %rbx; call f@plt; movaps (%rbx), %xmm0; ret", True),
    "from memory": ("and $-16, %rdi; mov (%rsi), %rdi; movaps (%rdi), %xmm0; ret", False),
    "with a target that is not seen": (
        "and $-16, %rdi; jmp *%rsi; and $-16, %rdi; movaps (%rdi), %xmm0; ret",
        False,
    ),
    "compared, not jumped by": (
        "test $15, %dil; setne %al; 1: movaps (%rdi), %xmm0; dec %rsi; jne 1b; ret",
        False,
    ),
    "shifted by a masked count": ("shl $64, %rdi; movaps (%rdi), %xmm0; ret", False),
    "half overwritten": ("and $-16, %rdi; mov %sil, %dil; movaps (%rdi), %xmm0; ret", False),
    "exchanged": ("and $-16, %rdi; xchg %rdi, %rsi; movaps (%rsi), %xmm0; ret", True),
    "exchanged away": ("and $-16, %rdi; xchg %rdi, %rsi; movaps (%rdi), %xmm0; ret", False),
    "a distance to another object": (
        "lea -40(%rsp), %rax; sub %rax, %rdi; movaps (%rax,%rdi), %xmm0; ret",
        False,
    ),
}


@pytest.mark.parametrize("name", FLOWS)
def test_the_flow_of_addresses(name: str, tmp_path: Path) -> None:
    body, proved = FLOWS[name]
    found = survey_of(tmp_path, body.replace("; ", "\n"))
    assert (found.demanding, found.proved) == (1, int(proved))
    assert len(found.relaxations) == int(not proved) and not found.rigid


def test_a_jump_from_another_function_brings_nothing_known(tmp_path: Path) -> None:
    """The cold part of a function comes back into its middle."""
    source = (
        '__asm__(".text\\n.type f,@function\\nf:\\n.cfi_startproc\\nand $-16, %rdi\\n'
        "back: movaps (%rdi), %xmm0\\nret\\n.cfi_endproc\\n"
        '.type g,@function\\ng:\\n.cfi_startproc\\nmov (%rsi), %rdi\\njmp back\\n.cfi_endproc\\n");'
    )
    library = compile_c(source, tmp_path / "lib.so", "-shared", "-nostdlib")
    assert survey_module(library).proved == 0


def test_a_call_into_the_middle_brings_nothing_known(tmp_path: Path) -> None:
    source = (
        '__asm__(".text\\n.type f,@function\\nf:\\n.cfi_startproc\\nand $-16, %rdi\\n'
        "middle: movaps (%rdi), %xmm0\\nret\\n.cfi_endproc\\n"
        '.type g,@function\\ng:\\n.cfi_startproc\\ncall middle\\nret\\n.cfi_endproc\\n");'
    )
    library = compile_c(source, tmp_path / "lib.so", "-shared", "-nostdlib")
    assert survey_module(library).proved == 0


@pytest.mark.parametrize(("flag", "proved"), [("-fexceptions", 0), ("-fno-exceptions", 1)])
def test_functions_that_handle_exceptions_are_not_analysed(
    flag: str, proved: int, tmp_path: Path
) -> None:
    """An exception may lead to any place behind a call."""
    source = r"""
    void g(void);
    static void leave(int *x) { (void)x; g(); }
    void f(char *p) {
      __attribute__((cleanup(leave))) int x = 0;
      g();
      __asm__ volatile("and $-16, %0\n movaps (%0), %%xmm0" : "+r"(p) : : "xmm0");
    }
    """
    library = compile_c(source, tmp_path / "lib.so", "-shared", "-fPIC", "-nostdlib", flag)
    found = survey_module(library)
    assert (found.demanding, found.proved) == (1, proved)


def test_rigid_code_is_named_with_the_names_that_lead_to_it(tmp_path: Path) -> None:
    found = survey_of(tmp_path, "addps (%rdi), %xmm0\nret")
    assert len(found.rigid) == 1 and found.rigid[0].startswith("addps xmm0,[rdi] at 0x")
    assert found.names == frozenset({"f"})


def test_a_program_is_entered_without_a_name(tmp_path: Path) -> None:
    source = f"{RIGID} int main(void) {{ add_rigidly(0); }}"
    assert survey_module(compile_c(source, tmp_path / "prog", "-fno-inline")).names is None
    idle = f"__attribute__((used)) static {RIGID} int main(void) {{ return 0; }}"
    found = survey_module(compile_c(idle, tmp_path / "idle"))
    assert len(found.rigid) == 1 and found.names is None  # a table of jumps may lead there


def test_code_outside_of_functions_is_never_changed(tmp_path: Path) -> None:
    """It may be data: a constant that looks like an instruction."""
    source = '__asm__(".text\\ntable: movaps (%rdi), %xmm0\\n");'
    found = survey_module(compile_c(source, tmp_path / "lib.so", "-shared", "-nostdlib"))
    assert not found.relaxations and len(found.rigid) == 1


def test_the_c_library_adapts() -> None:
    """Its string functions take any address; what else it has can be relaxed."""
    found = survey_module(LIBC)
    assert found.demanding > 1000 and found.rigid == () and 0 < len(found.relaxations) < 200


def test_relaxed_bytes_are_in_the_file(tmp_path: Path) -> None:
    image = ElfImage(LIBC)
    for each in survey_module(LIBC).relaxations:
        assert image.data[image.file_offset(each.offset)] == each.before


# --- processes ---


def test_names_may_be_ends_of_others(tmp_path: Path) -> None:
    """A linker that keeps `scale` in the end of `rescale` leaves no string of its own."""
    library = compile_c(
        f"{RIGID.replace('add_rigidly', 'scale')} int rescale(void) {{ return 1; }}",
        tmp_path / "libscale.so",
        "-shared",
        "-fPIC",
    )
    source = "void scale(double *); int rescale(void); int main(void) { scale(0); rescale(); }"
    flags = ("-xnone", str(library), f"-Wl,-rpath,{tmp_path}", "-Wl,-O2")
    program = compile_c(source, tmp_path / "prog", *flags)
    proof = prove_alignment(module(program), [module(program)])
    assert "libscale.so has code that demands 16 bytes" in proof.obstacle


def test_a_library_whose_file_is_gone_was_loaded(tmp_path: Path) -> None:
    program = module(BUILD / "bench" / "hospital")
    gone = Module(str(tmp_path / "libhalogen.so"), "ab" * 20)
    assert "libhalogen.so" in prove_alignment(program, [program, gone]).obstacle


def module(path: Path) -> Module:
    return Module(str(path.resolve()), build_id_of(path))


def test_a_program_and_its_libraries_are_proved() -> None:
    program = module(BUILD / "bench" / "hospital")
    proof = prove_alignment(program, [program])
    assert not proof.obstacle
    ids = {each.build_id for each in proof.modules}
    assert {program.build_id, build_id(LIBC)} <= ids


def test_a_program_that_loads_libraries_is_not(tmp_path: Path) -> None:
    program = module(BUILD / "bench" / "hospital")
    plugin = compile_c("int f(void) { return 1; }", tmp_path / "plug.so", "-shared")
    recorded = [program, module(plugin)]
    assert "loads libraries at run time (plug.so)" in prove_alignment(program, recorded).obstacle
    trusted = prove_alignment(program, recorded, trust_loaded=True)
    assert not trusted.obstacle and build_id_of(plugin) in {it.build_id for it in trusted.modules}


def test_a_rebuilt_program_is_not() -> None:
    program = module(BUILD / "bench" / "hospital")._replace(build_id="00" * 20)
    assert "missing or has changed" in prove_alignment(program, [program]).obstacle


@pytest.mark.parametrize("calls", [True, False])
def test_rigid_code_of_a_library_counts_if_another_module_can_call_it(
    calls: bool, tmp_path: Path
) -> None:
    library = compile_c(
        f"{RIGID} int other(void) {{ return 1; }}",
        tmp_path / "librigid.so",
        "-shared",
        "-fPIC",
    )
    call = "void add_rigidly(double *); int main(void) { add_rigidly(0); }"
    other = "int other(void); int main(void) { return other(); }"
    program = compile_c(
        call if calls else other,
        tmp_path / "prog",
        "-xnone",
        str(library),
        f"-Wl,-rpath,{tmp_path}",
    )
    proof = prove_alignment(module(program), [module(program)])
    assert ("librigid.so has code that demands 16 bytes" in proof.obstacle) is calls
