"""Makes a Prolog program: facts of a small town, rules over them, and questions."""

from __future__ import annotations

import random

from common import words, write_roles

RULES = """
:- dynamic parsed/2.
:- set_prolog_flag(gc_thread, false).
parent(X, Y) :- father(X, Y) ; mother(X, Y).
ancestor(X, Y, 1) :- parent(X, Y).
ancestor(X, Z, N) :- parent(X, Y), ancestor(Y, Z, M), N is M + 1.
cousin(X, Y) :- parent(A, X), parent(B, Y), A \\== B, parent(C, A), parent(C, B), X \\== Y.

% The cheapest ways from a place, by Dijkstra's algorithm.
ways(From, Costs) :- list_to_assoc([From-0], Costs0), close([0-From], Costs0, Costs).
close([], Costs, Costs).
close([Cost-Place | Open], Costs0, Costs) :-
    get_assoc(Place, Costs0, Known), Known < Cost, !, close(Open, Costs0, Costs).
close([Cost-Place | Open], Costs0, Costs) :-
    findall(Sum-Next, (road(Place, Next, Length), Sum is Cost + Length), Found),
    foldl(better, Found, Open-Costs0, Wider-Costs1),
    keysort(Wider, Sorted), close(Sorted, Costs1, Costs).
better(Sum-Next, Open-Costs, Open-Costs) :- get_assoc(Next, Costs, Known), Known =< Sum, !.
better(Sum-Next, Open-Costs0, [Sum-Next | Open]-Costs) :- put_assoc(Next, Costs0, Sum, Costs).

% Notes are parsed into terms, which are kept as facts.
parse(Note) :-
    note(Note, Text), split_string(Text, " ", ",.", Words), maplist(atom_string, Atoms, Words),
    msort(Atoms, Sorted), forall(nth0(Place, Sorted, Atom), assertz(parsed(Atom, Note-Place))).
shared(Count) :-
    aggregate_all(count, (parsed(Atom, A-_), parsed(Atom, B-_), A < B), Count).
forget :- forall(member(Rest, [0, 1, 2]), forget(Rest)).
forget(Rest) :- forall((parsed(A, N-P), N mod 3 =:= Rest), retract(parsed(A, N-P))).

main :-
    aggregate_all(count, ancestor(_, _, _), Ancestors), aggregate_all(count, cousin(_, _), Cousins),
    forall(start(From), (ways(From, Costs), assoc_to_values(Costs, Values), sum_list(Values, Sum),
        length(Values, Length), print(From-Length-Sum), nl)),
    forall(note(Note, _), parse(Note)), shared(Shared), forget,
    print([Ancestors, Cousins, Shared]), nl.
"""


def town(rng: random.Random, size: int) -> str:
    lines = [RULES]
    people = size * 4
    for kind in ("father", "mother"):
        for person in range(people // 20, people):
            older = rng.randrange(max(0, person - size), person)
            lines.append(f"{kind}(p{older}, p{person}).")
    for place in range(size):
        for _ in range(3):
            other = min(size - 1, max(0, place + rng.randint(-20, 20)))
            lines.append(f"road(c{place}, c{other}, {rng.randint(1, 50)}).")
    lines += [f"start(c{rng.randrange(size)})." for _ in range(20)]
    lines += [f'note({note}, "{words(rng, rng.randint(5, 30))}.").' for note in range(size)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_roles("swipl", "pl", town, 70, 300)
