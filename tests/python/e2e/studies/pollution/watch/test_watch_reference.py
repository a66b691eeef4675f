"""The watch against its slow reference, on random events."""

from __future__ import annotations

import subprocess
from collections import Counter

from support.command import BUILD
from support.watch.events import random_events, random_settings
from support.watch.reference import Watch

REPLAY = BUILD / "bin" / "halo-watch-replay"
SEEDS, EVENTS = 1000, 1000


def test_actions_are_those_of_the_reference() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        settings, events = random_settings(seed), list(random_events(seed, EVENTS))
        watch = Watch(settings)
        for event in events:
            watch.feed(event)
        expected = watch.end()
        text = "\n".join([*events, ""])
        done = subprocess.run(
            [REPLAY, *settings.arguments()], input=text, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines() == expected, f"seed {seed}"
        seen.update(line.split()[0] for line in expected)
    assert {"arm", "disarm", "judge", "move", "hit", "miss", "open", "restrictive"} <= set(seen)


def test_bad_input_is_refused() -> None:
    for arguments, text in (([], "x 1 2 3\n"), ([], "a 1 2\n"), (["--what=1"], ""), (["z"], "")):
        done = subprocess.run(
            [REPLAY, *arguments], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1 and done.stderr.count("\n") == 1
