#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fmctl_answers.py SOCKET FMCTL N: take the answers of the fmd at SOCKET, change them by N seeds, and
have FMCTL ask for them where they are handed out: it ends by itself, in time, and not by a signal."""
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading

SOCKET, FMCTL, N_SEEDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
ASKED = (["status"], ["status", "--all"], ["status", "sa"], ["nodes"], ["links"], ["path", "1", "2"], ["paths", "lid=1"], ["dist"], ["routes"], ["regions"],
         ["partitions", "0x7fff"], ["vfabrics"], ["verify"], ["trouble"], ["events"], ["progress"], ["fabric"],
         ["isolate"], ["isolate", "switch:spine-1"], ["isolate", "switch:leaf-1"], ["sweep", "light", "--wait"], ["help"])
VALUES = (None, True, -1, 0, 1 << 62, 0.5, "", "x" * 3000, "\x1b[31m\u202e", [], {}, [1, "a", None], {"from": {"node": 3}})


def ask(command, args):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(SOCKET)
        s.sendall((json.dumps({"command": command, "args": args}) + "\n").encode())
        return json.loads(b"".join(iter(lambda: s.recv(1 << 16), b"")))


def places(value):
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def change(answer, rng):
    for _ in range(rng.choice((1, 1, 3, 10))):
        all_places = list(places(answer))
        if not all_places:
            return answer
        where, key = rng.choice(all_places)
        if rng.random() < 0.3:
            del where[key]
        else:
            where[key] = json.loads(json.dumps(rng.choice(VALUES)))
    return answer


def serve(listener, rng):
    while True:
        client, _ = listener.accept()
        with client:
            request = json.loads(client.makefile().readline())
            answer = change(ask(request["command"], request["args"]), rng)
            try:
                client.sendall((json.dumps(answer) + "\n").encode())
            except OSError:
                pass


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(16)
        rng = random.Random()
        threading.Thread(target=serve, args=(listener, rng), daemon=True).start()
        for seed in range(N_SEEDS):
            rng.seed(seed)
            words = [FMCTL, "--socket=" + path, "--timeout=1", *ASKED[seed % len(ASKED)]]
            try:
                run = subprocess.run(words, capture_output=True, timeout=60)
                good = 0 <= run.returncode <= 5 and b"Sanitizer" not in run.stderr and (run.returncode == 0 or run.stderr or run.stdout)
                how = "%d %s" % (run.returncode, run.stderr.decode(errors="replace")[-300:])
            except subprocess.TimeoutExpired:
                good, how = False, "it does not end"
            if not good:
                wrong += 1
                print("seed %d: %s: %s" % (seed, " ".join(words), how))
    print("%d of %d answers are taken badly" % (wrong, N_SEEDS))
    return wrong > 0


sys.exit(main())
