#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fmsim_nonsense.py SOCKET: say what no library says to an fmsim.

Random bytes, hellos of every kind with random bytes behind them, frames with
lengths that are not true, calls about files of others, connections that go
away in the middle.  fmsim may answer or hang up; it is asked for a counter in
the end, and must answer that."""
import os
import random
import re
import socket
import struct
import sys

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lab/fmsim/umad_proto.h")
MAGIC = int(re.search(r"#define FMSIM_MAGIC (0x[0-9a-f]+)u", open(PROTO).read()).group(1), 16)
FILE, CALL, ISSM, CONSOLE = 1, 2, 3, 4
FRAME = struct.Struct("<7I2H4x")


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    return s


def hello(kind, node=b"", port=0, magic=MAGIC):
    return struct.pack("<III64s", magic, kind, port, node)


def say(path, data):
    """Send, and read what comes for a moment."""
    s = connect(path)
    s.settimeout(0.02)
    try:
        s.sendall(data)
        while s.recv(65536):
            pass
    except (TimeoutError, ConnectionError, socket.timeout):
        pass
    s.close()


def frame(rng, length=None):
    body = bytes([1, rng.choice((1, 3, 4, 0x81, 0x32)), rng.choice((1, 2)), rng.choice((1, 2, 5, 0x12, 0x81))])
    body += rng.randbytes(252)
    return FRAME.pack(length if length is not None else len(body), rng.randrange(3), 0, rng.choice((0, 50)),
                      rng.randrange(3), 1, rng.choice((0, 0x80010000)), rng.randrange(65536), rng.randrange(70)) + body


def main():
    path, rng = sys.argv[1], random.Random(1)
    for _ in range(30):
        say(path, rng.randbytes(rng.randrange(1, 3000)))
        say(path, hello(rng.randrange(7), port=rng.randrange(300)) + rng.randbytes(500))
    say(path, hello(FILE, magic=1) + frame(rng))
    say(path, hello(FILE, node=b"x" * 64) + frame(rng))
    say(path, hello(FILE) + frame(rng, 0xFFFFFFFF))
    say(path, hello(FILE) + frame(rng, 0))
    say(path, hello(CONSOLE) + b"dump " + b"y" * 5000 + b"\n")

    # agents of all kinds on a file, and frames to them
    f, calls = connect(path), connect(path)
    f.sendall(hello(FILE))
    number = struct.unpack("<iI", f.recv(8))[1]
    calls.sendall(hello(CALL))
    calls.recv(8)
    for _ in range(200):
        call = struct.pack("<III4BII2Q64s", rng.randrange(5), rng.choice((number, 0, 999)), rng.randrange(40),
                           rng.choice((0, 1, 3, 4, 0x32, 0x81)), rng.choice((1, 2)), rng.randrange(3), rng.randrange(2),
                           rng.randrange(1 << 24), 0, rng.getrandbits(64), rng.getrandbits(64), b"")
        calls.sendall(call)
        value = struct.unpack("<i", calls.recv(4, socket.MSG_WAITALL))[0]
        if call[0] == 3 and value == 0:  # a look at a port is longer
            calls.settimeout(0.02)
            try:
                while calls.recv(65536):
                    pass
            except (TimeoutError, socket.timeout):
                calls.settimeout(60)
    for _ in range(300):
        f.sendall(frame(rng))
    f.sendall(frame(rng)[:100])  # and gone
    f.close()
    calls.close()

    s = connect(path)
    s.sendall(hello(CONSOLE) + b"counts\n")
    s.recv(8)
    text = s.recv(4096).decode()
    if not text.startswith("handled"):
        sys.exit(f"fmsim says {text!r}")


if __name__ == "__main__":
    main()
