"""Keys of objects: those that src/tidy makes of the same values."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from halo.studies.hints.document import HintDimension
from halo.studies.hints.object_keys import bins_of, interleave, keys_of, write_keys
from support.command import REPOSITORY

# Prints the key of each line's values, which have the widths of the first line.
PROGRAM = """
#include <halo/tidy.h>
#include <iostream>
#include <string>
#include "tidy/keys.h"

int main() {
  unsigned dimensions;
  double width, value;
  std::cin >> dimensions >> width;
  const halo::tidy::KeyMaker keys(dimensions, {});
  for (;;) {
    unsigned hint[4] = {};
    for (unsigned at = 0; at < dimensions; ++at) {
      std::string word;
      if (!(std::cin >> word)) return 0;
      hint[at] = tidy_bin(std::stod(word), width);
    }
    std::cout << keys.key(hint) << std::endl;
  }
}
"""
VALUES = [0.0, 0.5, -0.5, 1.0, 12345.678, -1e9, 1e300, -1e300, np.nan, np.inf, -np.inf, 3.0]


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_keys_are_those_of_the_allocator(dimensions: int, tmp_path: Path) -> None:
    program = tmp_path / "keys"
    include = [f"-I{REPOSITORY / 'src'}", f"-I{REPOSITORY / 'src' / 'tidy' / 'include'}"]
    command = ["g++", "-std=c++20", "-x", "c++", "-", *include, "-o", str(program)]
    subprocess.run(command, input=PROGRAM, text=True, check=True)
    columns = [np.roll(VALUES, shift) for shift in range(dimensions)]
    lines = [" ".join(map(repr, map(float, row))) for row in zip(*columns, strict=True)]
    text = "\n".join([f"{dimensions} 0.5", *lines])
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    hint = [HintDimension(f"f{at}", 0.5) for at in range(dimensions)]
    assert keys_of(hint, columns).tolist() == list(map(int, done.stdout.split()))


def test_values_in_one_interval_have_one_bin() -> None:
    bins = bins_of(np.array([4.0, 5.9, 6.0]), 2.0)
    assert bins[0] == bins[1] and bins[2] == bins[1] + 1


def test_elements_are_interleaved() -> None:
    ones, zeroes = np.array([0b11], np.uint64), np.array([0], np.uint64)
    assert interleave([ones, zeroes]).tolist() == [0b101]
    assert interleave([zeroes, ones]).tolist() == [0b1010]


def test_keys_are_written_by_ascending_number(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    first = np.array([7, 2]), np.array([1, 2], np.uint64)
    second = np.array([3]), np.array([2**64 - 1], np.uint64)
    write_keys([first, second], file)
    assert file.read_text() == f"2 2\n3 {2**64 - 1}\n7 1\n"
