#!/usr/bin/python3 -I
"""Uses ledger: `load.py PORT [BOOKINGS TIMES]`; prints the sum that it is told."""

import socket
import sys

port, bookings, times = int(sys.argv[1]), 20000, 20
if len(sys.argv) > 2:
    bookings, times = int(sys.argv[2]), int(sys.argv[3])
requests = [f"book {(i * 7919) % 97} {i}\n" for i in range(bookings)]
with socket.create_connection(("127.0.0.1", port)) as connection:
    lines = connection.makefile("r")
    for start in range(0, bookings, 1000):
        part = requests[start : start + 1000]
        connection.sendall("".join(part).encode())
        for _ in part:
            assert lines.readline() == "booked\n"
    connection.sendall(f"sum {times}\n".encode())
    print(lines.readline(), end="")
