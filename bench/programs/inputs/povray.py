"""Makes a scene of many spheres, boxes and a mesh for povray."""

from __future__ import annotations

import random

from common import write_roles

HEAD = """#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { location <0, 14, -26> look_at <0, 0, 4> }
light_source { <30, 50, -30> color rgb 1 }
light_source { <-40, 30, -10> color rgb 0.4 }
plane { y, -1 pigment { checker color rgb 0.2 color rgb 0.8 } }
"""


def place(rng: random.Random) -> str:
    return f"<{rng.uniform(-16, 16):.3f}, {rng.uniform(0, 5):.3f}, {rng.uniform(-10, 25):.3f}>"


def colour(rng: random.Random) -> str:
    return f"rgb <{rng.random():.2f}, {rng.random():.2f}, {rng.random():.2f}>"


def scene(rng: random.Random, objects: int) -> str:
    lines = [HEAD]
    for number in range(objects):
        where, texture = place(rng), f"pigment {{ color {colour(rng)} }} finish {{ phong 0.6 }}"
        if number % 4 == 0:
            lines.append(
                f"difference {{ sphere {{ 0, 0.4 }} box {{ <-0.2, -1, -0.2>, <0.2, 1, 0.2> }}"
                f" {texture} translate {where} }}"
            )
        elif number % 4 == 1:
            lines.append(f"box {{ -0.2, 0.2 rotate {place(rng)} {texture} translate {where} }}")
        else:
            lines.append(f"sphere {{ {where}, 0.25 {texture} }}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_roles("povray", "pov", scene, 2_000, 80_000)
