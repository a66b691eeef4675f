"""Makes a design in Verilog for yosys: units with a state machine, arithmetic and registers."""

from __future__ import annotations

import random

from common import word, write_roles

OPERATORS = ("+", "-", "&", "|", "^", "<<", ">>", "<", ">")


def unit(rng: random.Random, number: int) -> str:
    width, states = rng.choice((6, 8, 12)), rng.randint(4, 9)
    registers = [f"{word(rng)}_{place}" for place in range(rng.randint(3, 6))]
    names = [*registers, "a", "b"]

    def value() -> str:
        shift = rng.choice(OPERATORS)
        right = str(rng.randint(1, 5)) if shift in ("<<", ">>") else rng.choice(names)
        return f"{rng.choice(names)} {shift} {right}"

    cases = []
    for state in range(states):
        lines = [f"{name} <= {value()};" for name in registers if rng.random() < 0.6]
        where = f"{rng.choice(names)}[{rng.randrange(width)}]"
        lines.append(f"state <= {where} ? {rng.randrange(states)} : {(state + 1) % states};")
        cases.append(f"      {state}: begin {' '.join(lines)} end")
    resets = " ".join(f"{name} <= {rng.randrange(16)};" for name in registers)
    return "\n".join(
        [
            f"module unit{number}(input clk, input rst, input [15:0] a,"
            " input [15:0] b, output [15:0] y);",
            f"  reg [{width - 1}:0] {', '.join(registers)};",
            "  reg [3:0] state;",
            "  always @(posedge clk) begin",
            f"    if (rst) begin state <= 0; {resets} end",
            "    else case (state)",
            *cases,
            "      default: state <= 0;",
            "    endcase",
            "  end",
            f"  assign y = ({value()}) ^ (state[0] ? {registers[0]} : {value()});",
            "endmodule",
        ]
    )


def design(rng: random.Random, units: int) -> str:
    """Units in a row; each reads the results of two earlier ones, and out depends on all."""
    lines = [unit(rng, number) for number in range(units)]
    lines += ["module top(input clk, input rst, input [15:0] in, output [15:0] out);"]
    lines += ["  wire [15:0] w0 = in;"]
    for number in range(units):
        near = [rng.randrange(max(0, number - 4), number + 1) for _ in range(2)]
        ports = f".a(w{near[0]}), .b(w{near[1]}), .y(w{number + 1})"
        lines.append(f"  wire [15:0] w{number + 1};")
        lines.append(f"  unit{number} u{number}(.clk(clk), .rst(rst), {ports});")
    result = " ^ ".join(f"w{number + 1}" for number in range(units))
    return "\n".join([*lines, f"  assign out = {result};", "endmodule", ""])


if __name__ == "__main__":
    write_roles("yosys", "v", design, 1, 8)
