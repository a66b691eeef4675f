"""Makes proof obligations for z3: bounds, arrays and functions of short straight programs."""

from __future__ import annotations

import random

from common import write_roles

HEAD = """(set-logic ALL)
(declare-fun weight (Int) Int)
(declare-fun next (Int Int) Int)
(assert (forall ((i Int)) (! (>= (weight i) 1) :pattern ((weight i)))))
"""


def value(rng: random.Random, names: list[str], memory: str) -> str:
    return rng.choice(
        [
            f"(+ {names[0]} {rng.randint(1, 9)})",
            f"(ite (< {names[0]} {names[1]}) {names[1]} (- {names[0]} {names[2]}))",
            f"(select {memory} {names[0]})",
            f"(next {names[0]} {names[1]})",
            f"(+ (weight {names[0]}) (* {rng.randint(2, 5)} {names[1]}))",
        ]
    )


def obligation(rng: random.Random, steps: int) -> str:
    """Whether a program of steps can break a claim; x are its values and m its memory at a step.

    The claim is that a store is still there, if none of the later ones is to the same place. Some
    programs forget one of these.
    """
    lines = ["(push)", "(declare-const m0 (Array Int Int))", "(declare-const x0 Int)"]
    lines += ["(declare-const limit Int)", f"(assert (< 0 x0 limit {rng.randint(20, 90)}))"]
    stores = []
    for number in range(1, steps + 1):
        names = [f"x{rng.randrange(max(0, number - 5), number)}" for _ in range(3)]
        memory = f"m{number - 1}"
        stored = f"(store {memory} {names[1]} {names[2]})"
        lines.append(f"(define-fun x{number} () Int {value(rng, names, memory)})")
        lines.append(f"(define-fun m{number} () (Array Int Int) {stored})")
        stores.append((names[1], names[2]))
        if number % 3 == 0:
            guard = f"(<= x{rng.randrange(number)} (+ x{number} {rng.randint(0, 30)}))"
            lines.append(f"(assert (or {guard} (= x{number - 1} limit)))")
    at = rng.randrange(steps // 2)
    place, kept = stores[at]
    later = [other for other, _ in stores[at + 1 :]]
    if rng.random() < 0.3:
        later.pop()
    same = " ".join(f"(= {place} {other})" for other in later)
    claim = f"(or {same} (= (weight (select m{steps} {place})) (weight {kept})))"
    lines += [f"(assert (not {claim}))", "(check-sat)", "(pop)"]
    return "\n".join(lines)


def obligations(rng: random.Random, count: int) -> str:
    return "\n".join([HEAD, *(obligation(rng, rng.randint(8, 24)) for _ in range(count)), ""])


if __name__ == "__main__":
    write_roles("z3", "smt2", obligations, 80, 1_000)
