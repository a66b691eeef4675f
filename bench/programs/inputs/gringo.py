"""Makes a transport problem as a logic program, which gringo grounds."""

from __future__ import annotations

import random

from common import word, write_roles

RULES = """
road(B, A, D) :- road(A, B, D).
near(A, B) :- road(A, B, D), D <= 4.
reach(A, B, D) :- road(A, B, D).
reach(A, C, D + E) :- reach(A, B, D), road(B, C, E), D + E <= 13, A != C.
distance(A, B, M) :- reach(A, B, _), M = #min { D : reach(A, B, D) }.
twin(A, B) :- near(A, C), near(B, C), A < B, kind(A, K), kind(B, K), not near(A, B).
time(0..horizon).
{ at(P, A, T + 1) : near(A, B) } 1 :- at(P, B, T), time(T), T < horizon.
{ at(P, A, T + 1) } :- at(P, A, T), time(T), T < horizon.
at(P, A, 0) :- parcel(P, A, _, _).
:- at(P, A, T), at(P, B, T), A < B.
:- at(P, A, T), at(Q, A, T), P < Q, parcel(P, _, _, W), parcel(Q, _, _, V), W + V > 17.
late(P, M) :- parcel(P, A, B, _), distance(A, B, M), not at(P, B, horizon).
#minimize { M, P : late(P, M) }.
"""


def problem(rng: random.Random, towns: int) -> str:
    """Towns on a plane; each has roads to some of the towns close to it."""
    lines = [RULES, "#const horizon = 6."]
    width = int(towns**0.5)
    for town in range(towns):
        lines.append(f'kind({town}, {rng.randrange(6)}). name({town}, "{word(rng)}").')
        for step in (1, width - 1, width, width + 1):
            if town + step < towns and rng.random() < 0.7:
                lines.append(f"road({town}, {town + step}, {rng.randint(1, 9)}).")
    for parcel in range(towns // 8):
        ends = f"{rng.randrange(towns)}, {rng.randrange(towns)}"
        lines.append(f"parcel({parcel}, {ends}, {rng.randint(1, 12)}).")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_roles("gringo", "lp", problem, 250, 1_500)
