"""The findings of `halo doctor --run -- PROG`: modules reached, bindings, placed objects."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.target import locate_target
from halo.plan import PlanGroup, drawing_plan, write_plan
from halo.ship.doctor import Finding, Weight
from halo.ship.doctor.trial_run import examine_run
from support.command import compile_c, halo
from support.planned import compile_program, make_plan

PLUGIN = """
#include <stdlib.h>
char *plugin_make(void) { char *p = malloc(40); p[0] = 1; return p; }
void plugin_drop(char *p) { free(p); }
"""

# Opens a plug-in in one of several ways; each side frees what it has allocated itself.
HOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *open_by(const char *way, const char *path) {
  int flags = RTLD_LAZY;
  if (!strcmp(way, "deep")) flags |= RTLD_DEEPBIND;
  if (!strcmp(way, "space")) return dlmopen(LM_ID_NEWLM, path, flags);
  return dlopen(path, flags);
}
int main(int argc, char **argv) {
  char *mine[100];
  for (int i = 0; i < 100; ++i) { mine[i] = malloc(24); mine[i][0] = i; }
  for (int i = 0; i < 100; ++i) free(mine[i]);
  if (argc < 3) return argc == 2 ? atoi(argv[1]) : 0;
  if (!strcmp(argv[1], "abort")) { fputs("all is lost\n", stderr); abort(); }
  if (!strcmp(argv[1], "_exit")) _exit(0);
  void *handle = open_by(argv[1], argv[2]);
  if (!handle) return fputs(dlerror(), stderr), 1;
  char *(*make)(void) = (char *(*)(void))dlsym(handle, "plugin_make");
  void (*drop)(char *) = (void (*)(char *))dlsym(handle, "plugin_drop");
  drop(make());
  return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the host, the plug-in, and a plan for the host's own objects."""
    folder = tmp_path_factory.mktemp("built")
    compile_program(folder, PLUGIN, "-shared", "-fPIC", name="plugin.so")
    host = compile_program(folder, HOST)
    make_plan(folder, [str(host)], "dense")
    return folder


def run(folder: Path, *arguments: str, plan: Path | None = None) -> dict[str, Finding]:
    settings = read_settings()
    clean = {k: v for k, v in settings.environment.items() if k != "LD_PRELOAD"}
    settings = replace(settings, environment=clean)
    target = locate_target(str(folder / "prog"), clean)
    return {f.what: f for f in examine_run(settings, target, arguments, plan)}


def weights(findings: dict[str, Finding]) -> set[Weight]:
    return {finding.weight for finding in findings.values()}


def test_a_good_run(built: Path) -> None:
    findings = run(built, "3", plan=built / "prog.plan")
    assert weights(findings) == {Weight.FINE}
    assert findings["run: end"].sentence == "exit status 3"
    assert findings["run: bindings"].sentence == "all modules use halo's malloc and free"
    assert findings["run: placed"].sentence.startswith("100 allocations in 1 of ")


def test_an_ordinary_plugin_is_reached(built: Path) -> None:
    findings = run(built, "plain", str(built / "plugin.so"))
    assert weights(findings) == {Weight.FINE}
    alone = run(built, "0")["run: reached"].sentence.split()[0]
    assert int(findings["run: reached"].sentence.split()[0]) == int(alone) + 1


def test_deep_binding_is_seen_where_it_happens(built: Path) -> None:
    """The flags are computed here, so nothing of it shows in the file."""
    found = run(built, "deep", str(built / "plugin.so"))["run: bindings"]
    assert found.weight is Weight.REFUSAL
    assert found.sentence.startswith("plugin.so uses free and malloc of libc.so.6 past halo")
    assert "RTLD_DEEPBIND" in found.way_out


def test_the_fixed_address_of_a_function_is_no_other_function(tmp_path: Path) -> None:
    """Libraries find the address of free in a program that is not position-independent."""
    frees = "#include <stdlib.h>\nvoid (*volatile drop)(void *) = free;"
    library = compile_c(frees, tmp_path / "libdrop.so", "-shared", "-fPIC")
    source = """
#include <stdlib.h>
extern void (*volatile drop)(void *);
static void (*volatile mine)(void *) = free;
int main(void) { drop(malloc(9)); mine(malloc(9)); return 0; }
"""
    flags = ("-no-pie", "-fno-pic", f"-Wl,{library}", f"-Wl,-rpath,{tmp_path}")
    compile_c(source, tmp_path / "prog", *flags)
    findings = run(tmp_path)
    assert weights(findings) == {Weight.FINE}
    assert findings["run: bindings"].sentence == "all modules use halo's malloc and free"


def test_operators_of_the_program_are_not_a_surprise(tmp_path: Path) -> None:
    source = """
#include <new>
#include <cstdlib>
#include <string>
void *operator new(std::size_t n) { return std::malloc(n); }
void operator delete(void *p) noexcept { std::free(p); }
int main() { delete new std::string(100, 'x'); }
"""
    compile_program(tmp_path, source)
    assert weights(run(tmp_path)) == {Weight.FINE}


def test_namespaces_are_seen_where_they_are_opened(built: Path) -> None:
    found = run(built, "space", str(built / "plugin.so"))["run: namespaces"]
    assert found.weight is Weight.NOTE
    assert "plugin.so" in found.sentence and "where halo is not" in found.sentence


def test_a_crash_is_told_with_the_last_words(built: Path) -> None:
    found = run(built, "abort", "now")["run: end"]
    assert found.weight is Weight.REFUSAL
    assert "was killed by SIGABRT under the runtime (all is lost)" in found.sentence


def test_a_program_that_leaves_without_a_report(built: Path) -> None:
    found = run(built, "_exit", "now", plan=built / "prog.plan")["run: placed"]
    assert found.weight is Weight.NOTE
    assert "without running its exit handlers" in found.sentence


def test_a_plan_that_needs_more_than_the_core(built: Path, tmp_path: Path) -> None:
    """It draws pools at random, so it places objects of any program."""
    plan = tmp_path / "pools.plan"
    write_plan(drawing_plan([PlanGroup(False, 0, True)] * 2, 4096, 16, None), plan)
    found = run(built, "0", plan=plan)
    assert found["run: reached"].weight is Weight.FINE
    assert found["run: placed"].weight is Weight.FINE, found["run: placed"].sentence


def test_a_plan_that_places_nothing(built: Path, tmp_path: Path) -> None:
    other = compile_program(tmp_path, HOST.replace("all is lost", "another"))
    found = run(other.parent, "0", plan=built / "prog.plan")["run: placed"]
    assert found.weight is Weight.NOTE
    assert "nothing was placed by" in found.sentence


def test_a_run_that_is_not_reached(tmp_path: Path) -> None:
    """A static program stands for whatever makes the loader ignore LD_PRELOAD."""
    compile_c(PLUGIN + "int main(void) { free(malloc(9)); }", tmp_path / "prog", "-static")
    found = run(tmp_path, "0")["run: reached"]
    assert found.weight is Weight.REFUSAL
    assert "LD_PRELOAD did not reach" in found.sentence


def test_the_command_runs_the_program_only_when_asked(built: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    source = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "w");
  puts("not for the report");
  return f == NULL;
}
"""
    program = str(compile_c(source, tmp_path / "prog"))
    without = halo("doctor", "--", program, str(witness))
    assert without.status == 0 and not witness.exists()
    with_run = halo("doctor", "--run", "--", program, str(witness))
    assert with_run.status == 0 and witness.exists()
    assert "run: end               exit status 0" in with_run.stdout
    assert "not for the report" not in with_run.stdout
    deep = halo("doctor", "--run", "--", str(built / "prog"), "deep", str(built / "plugin.so"))
    assert deep.status == 113
    assert "no       run: bindings" in deep.stdout


def test_an_interrupted_run_leaves_no_program_and_no_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "halo", "doctor", "--run", "--", "sleep", "987"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as doctor:
        for _ in range(300):
            if sleeps():
                break
            time.sleep(0.1)
        doctor.terminate()
        assert doctor.wait(60) == 143
    assert not sleeps()
    assert os.listdir(tmp_path) == []


def sleeps() -> bool:
    """Whether the program of the test above runs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes())
    return b"sleep\x00987\x00" in found
