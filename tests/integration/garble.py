#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""garble.py BUILD N: damage the files good.net, good/lfts, good.conf and an
engine, by N seeds, and give them to the programs: each run ends in time, with
exit code 0, 2 or 3, and with a sentence or verdict
unless 0."""
import os
import random
import subprocess
import sys

BUILD, N_SEEDS = sys.argv[1], int(sys.argv[2])
ENGINE = open(os.path.join(BUILD, "plugins/engines/.libs/updn.so"), "rb").read()


def garble(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at, how = rng.randrange(len(data) + 1), rng.randrange(6)
        to = min(len(data), at + rng.choice((1, 1, 3, 40)))
        if how == 0:
            data[at:to] = b""
        elif how == 1:
            data[at:at] = data[at:to]
        elif how == 2:
            data[at:to] = bytes(rng.randrange(256) for _ in range(to - at))
        elif how == 3:
            data[at:to] = rng.choice((b"-1", b"0", b"255", b"65536", b"99999999999999999999", b"\n", b'"', b"{", b"}", b"#"))
        elif how == 4:
            other = rng.randrange(len(data) + 1)
            data[at:to], data[other:other + 1] = data[other:other + 1], data[at:to]
        elif at > 0:
            data = data[:at] if rng.random() < 0.3 else data
        if not data:
            break
    return bytes(data)


def commands(kind, path):
    fmroute, fmd = os.path.join(BUILD, "fmroute"), os.path.join(BUILD, "fmd")
    return {
        "net": [[fmroute, path, "--engine=fattree,updn"],
                [fmd, "--once", f"--transport=sim:{path}", f"--state-dir={path}.state"]],
        "lfts": [[fmroute, "check", "good.net", path]],
        "conf": [[fmd, "--check", f"--config={path}"]],
        "so": [[fmd, "--check", f"--plugin-dir={os.path.dirname(path)}", "--engine=garbled"]],
    }[kind]


def main():
    wrong, ended = 0, {}
    os.makedirs("garbled", exist_ok=True)
    sources = {"net": open("good.net", "rb").read(), "lfts": open("good/lfts", "rb").read(),
               "conf": open("good.conf", "rb").read()}
    for seed in range(N_SEEDS):
        rng = random.Random(seed)
        kind = ("net", "lfts", "conf", "net", "conf", "so")[seed % 6]
        path = "garbled/garbled." + kind
        with open(path, "wb") as f:
            # What the loader makes of any other damage to an engine is its own affair.
            f.write(ENGINE[:rng.randrange(len(ENGINE))] if kind == "so" else garble(sources[kind], rng))
        for command in commands(kind, path):
            try:
                run = subprocess.run(command, capture_output=True, timeout=60)
                code, said = run.returncode, run.stderr.decode(errors="replace").strip()
                if code == 3 and not said:
                    said = run.stdout.decode(errors="replace").strip()  # the verdict
            except subprocess.TimeoutExpired:
                code, said = "no end", "-"
            ended[kind, code] = ended.get((kind, code), 0) + 1
            if code not in (0, 2, 3) or (code != 0 and not said):
                wrong += 1
                print(f"wrong: seed {seed}: {' '.join(command)}: {code}: {said[-600:]}")
        os.unlink(path)
    print(f"{'ok' if wrong == 0 else 'FAIL'}: {N_SEEDS} seeds: " +
          ", ".join(f"{kind} exit {code}: {n}" for (kind, code), n in sorted(ended.items(), key=str)))
    sys.exit(1 if wrong else 0)


main()
