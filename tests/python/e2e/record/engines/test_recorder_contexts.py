"""Recordings of small programs: their contexts, counts, sizes, streams and alignment."""

from __future__ import annotations

import subprocess

import pytest

from support.recordings import (
    COUNTING,
    Workshop,
    allocations_by_stack,
    contexts_of,
    names,
    stack,
)


@pytest.mark.parametrize("flags", [(), ("-no-pie",), ("-O2",), ("-fno-omit-frame-pointer",)])
def test_sizes_counts_and_streams(workshop: Workshop, flags: tuple[str, ...]) -> None:
    binary = workshop.build(COUNTING, *flags)
    recording = workshop.record(binary, stdin="one\ntwo\n")
    assert recording.run.returncode == 42
    assert recording.run.stdout == "got one\ngot two\n"
    assert recording.run.stderr == "done\n"
    part = recording.part
    [small] = contexts_of(part, binary, "small")
    assert (small["allocations"], small["frees"], small["bytes"]) == (10, 4, 240)
    assert (small["min_size"], small["max_size"], small["sizes"]) == (24, 24, [[24, 10]])
    assert (small["peak_live_bytes"], small["accesses"]) == (240, 10)
    [zeroed] = contexts_of(part, binary, "zeroed")
    assert (zeroed["bytes"], zeroed["frees"], zeroed["accesses"]) == (100, 1, 1)
    [grown] = [c for c in contexts_of(part, binary, "main") if c["max_size"] == 300]
    assert (grown["allocations"], grown["accesses"]) == (1, 1)
    assert part["totals"]["untracked"] == 1
    assert not contexts_of(part, binary, "big")
    [module] = [m for m in part["modules"] if m["path"] == str(binary)]
    assert len(module["build_id"]) == 40


def test_stripped_binary(workshop: Workshop) -> None:
    table = workshop.build(COUNTING)
    binary = table.with_name("stripped")
    subprocess.run(["strip", "-s", table, "-o", binary], check=True)
    part = workshop.record(binary).part
    [small] = [c for c in part["contexts"] if names(part, c, binary, table)[:1] == ["small"]]
    assert names(part, small, binary, table) == ["small", "main"]
    assert small["allocations"] == 10


def test_recursion_is_reduced_and_distances_are_constant(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        void leaf(void) { *(volatile char *)malloc(8) = 1; }
        void b(int n);
        void a(int n) { if (n) b(n - 1); else leaf(); }
        void b(int n) { if (n) a(n - 1); else leaf(); }
        int main(void) { for (int n = 0; n < 2000; n++) a(n); }
    """)
    part = workshop.record(binary).part
    assert allocations_by_stack(part, binary, "leaf") == {
        ("leaf", "a", "main"): 1,
        ("leaf", "b", "a", "main"): 1,
        ("leaf", "a", "b", "a", "main"): 999,
        ("leaf", "b", "a", "b", "main"): 999,
    }
    [one, *_] = contexts_of(part, binary, "leaf")
    innermost = part["frames"][stack(part, one)[0]]
    assert innermost[2] > 0, "the caller's frame has a constant size"


def test_longjmp_and_exceptions_leave_no_frames(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <setjmp.h>
        #include <stdlib.h>
        #include <stdexcept>
        jmp_buf env;
        extern "C" {
        void made_after(void) { *(volatile char *)malloc(8) = 1; }
        void jumper(int n) { if (n) jumper(n - 1); longjmp(env, 1); }
        void thrower(int n) { if (n) thrower(n - 1); throw std::runtime_error("x"); }
        void jump(void) { if (!setjmp(env)) jumper(10); made_after(); }
        void raise_one(void) { try { thrower(10); } catch (std::exception &) {} made_after(); }
        }
        int main() { for (int i = 0; i < 3; i++) { jump(); raise_one(); } }
        """,
        suffix=".cc",
    )
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made_after")
    assert stacks == {("made_after", "jump", "main"): 3, ("made_after", "raise_one", "main"): 3}


def test_operator_new_forms(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <new>
        #include <cstdio>
        struct alignas(64) Wide { char data[64]; };
        struct Plain { long v[5]; };
        extern "C" void plain() { for (int i = 0; i < 5; i++) delete new Plain(); }
        extern "C" void wide() { for (int i = 0; i < 3; i++) delete new Wide(); }
        extern "C" void many() { delete[] new int[10]; }
        extern "C" void quiet() { operator delete(new (std::nothrow) Plain, std::nothrow); }
        extern "C" void hopeless() {
          try { operator new(1ul << 62); } catch (std::bad_alloc &) { puts("bad_alloc"); }
          if (!operator new(1ul << 62, std::nothrow)) puts("null");
        }
        int main() { plain(); wide(); many(); quiet(); hopeless(); }
        """,
        suffix=".cc",
    )
    recording = workshop.record(binary)
    assert recording.run.stdout == "bad_alloc\nnull\n"
    part = recording.part
    expected = {"plain": (5, 5, 200), "wide": (3, 3, 192), "many": (1, 1, 40), "quiet": (1, 1, 40)}
    for caller, counts in expected.items():
        [context] = contexts_of(part, binary, caller)
        assert (context["allocations"], context["frees"], context["bytes"]) == counts


def test_failed_realloc_keeps_the_object(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <errno.h>
        int main(void) {
          volatile char *p = malloc(32), *q = malloc(32);
          p[0] = 1; q[0] = 1;
          errno = 0;
          if (realloc((void *)p, 1ul << 62) || errno != ENOMEM) return 1;
          p[1] = 1; q[1] = 1;
          return 0;
        }
    """)
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    contexts = contexts_of(recording.part, binary, "main")
    counts = [(c["allocations"], c["frees"], c["accesses"]) for c in contexts]
    assert counts == [(1, 0, 2), (1, 0, 2)]


def test_alignment_evidence(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <emmintrin.h>
        #include <stdlib.h>
        double *p;
        void loose(void) { p = malloc(32); _mm_storeu_pd(p, _mm_set1_pd(1)); }
        void strict(void) { p = malloc(32); _mm_store_pd(p, _mm_set1_pd(1)); }
        int main(void) { loose(); strict(); }
    """)
    part = workshop.record(binary).part
    assert [c["alignment"] for c in contexts_of(part, binary, "loose")] == [0]
    assert [c["alignment"] for c in contexts_of(part, binary, "strict")] == [16]


def test_signal_handler_on_its_own_stack(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <signal.h>
        #include <stdlib.h>
        void made(void) { *(volatile char *)malloc(8) = 1; }
        void handler(int s) { made(); }
        void outer(void) { raise(SIGUSR1); made(); }
        int main(void) {
          stack_t s = {malloc(65536), 0, 65536}; sigaltstack(&s, 0);
          struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
          sigaction(SIGUSR1, &a, 0);
          for (int i = 0; i < 3; i++) outer();
        }
    """)
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made")
    assert stacks == {("made", "handler"): 3, ("made", "outer", "main"): 3}


def test_coroutines_keep_their_stacks(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <ucontext.h>
        ucontext_t home, co[2];
        void made(void) { *(volatile char *)malloc(8) = 1; }
        void yield_from(int n) { swapcontext(&co[n], &home); made(); }
        void body(int n) { for (;;) yield_from(n); }
        int main(void) {
          for (int n = 0; n < 2; n++) {
            getcontext(&co[n]);
            co[n].uc_stack.ss_sp = malloc(131072); co[n].uc_stack.ss_size = 131072;
            makecontext(&co[n], (void (*)(void))body, 1, n);
          }
          for (int i = 0; i < 10; i++) { swapcontext(&home, &co[i % 2]); made(); }
        }
    """)
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made")
    assert stacks == {("made", "main"): 10, ("made", "yield_from", "body"): 8}
